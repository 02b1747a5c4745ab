import * as reports from '../../shared/domain/reports/reports.ts';
import * as smsLedger from '../../shared/domain/sms/ledger.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { handle } from '../handle.ts';

/** The longest turn of the backfill, because new events wait for its end. */
const backfillMs = 1_000;

export default handle(countReports, { concurrency: 1, repeats: true }, async () => {
  await reports.countEvents();
  await smsLedger.sumUp();
  await reports.backfill(backfillMs);
  return 'done';
});

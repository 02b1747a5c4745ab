import { isolated } from '../../shared/common/isolated.ts';
import { atMostEvery } from '../../shared/common/logger.ts';
import * as reports from '../../shared/domain/reports/reports.ts';
import * as smsLedger from '../../shared/domain/sms/ledger.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { handle } from '../handle.ts';

/** The longest turn of the backfill, because new events wait for its end. */
const backfillMs = 1_000;
/** Sums of the ledger are due once a minute, and a look at them takes a transaction. */
const mayBeDue = atMostEvery(10_000);

export default handle(countReports, { concurrency: 1, repeats: true }, async () => {
  const steps = isolated('a step of the reports failed');
  await steps.run({ step: 'events' }, reports.countEvents);
  if (mayBeDue()) await steps.run({ step: 'ledger' }, smsLedger.sumUp);
  await steps.run({ step: 'backfill' }, () => reports.backfill(backfillMs));
  steps.end();
  return 'done';
});

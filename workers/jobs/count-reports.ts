import * as reports from '../../shared/domain/reports.ts';
import * as smsLedger from '../../shared/domain/sms-ledger.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { handle } from '../handle.ts';

export default handle(countReports, { concurrency: 1, repeats: true }, async () => {
  await reports.countEvents();
  await smsLedger.sumUp();
  return 'done';
});

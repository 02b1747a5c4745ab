import * as reports from '../../shared/domain/reports.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { handle } from '../handle.ts';

export default handle(countReports, { concurrency: 1, repeats: true }, async () => {
  await reports.countEvents();
  return 'done';
});

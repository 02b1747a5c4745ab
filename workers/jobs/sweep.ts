import * as recovery from '../../shared/domain/work/recovery.ts';
import { sweep } from '../../shared/jobs/sweep.ts';
import { handle } from '../handle.ts';

export default handle(sweep, { concurrency: 1, repeats: true }, async () => {
  await recovery.sweep();
  return 'done';
});

import * as retention from '../../shared/domain/operations/retention.ts';
import * as waiting from '../../shared/domain/work/waiting.ts';
import { purgeExpired } from '../../shared/jobs/purge-expired.ts';
import { handle, isStopping } from '../handle.ts';

export default handle(purgeExpired, { concurrency: 1, repeats: true }, async () => {
  try {
    await retention.purge(isStopping);
  } finally {
    if (!isStopping()) await waiting.recountDue();
  }
  return 'done';
});

import * as smsBatches from '../../shared/domain/sms/batches/batches.ts';
import * as smsHeld from '../../shared/domain/sms/held.ts';
import { releaseSms } from '../../shared/jobs/release-sms.ts';
import { againIn } from '../../shared/work/turns.ts';
import { handle } from '../handle.ts';

export default handle(releaseSms, { concurrency: 2 }, async ({ workspaceId }) => {
  const { isOver } = await smsHeld.release(workspaceId);
  if (!isOver) return againIn(0);
  // Held messages were accepted before, so they are paid first.
  await smsBatches.wakePaused(workspaceId);
  return 'done';
});

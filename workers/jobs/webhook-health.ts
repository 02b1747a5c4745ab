import * as health from '../../shared/domain/webhooks/health/health.ts';
import { webhookHealth } from '../../shared/jobs/webhook-health.ts';
import { handle } from '../handle.ts';

export default handle(webhookHealth, { concurrency: 1, repeats: true }, async () => {
  await health.watch();
  return 'done';
});

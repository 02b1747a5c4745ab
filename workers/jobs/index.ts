import type { Handler } from '../handle.ts';

/**
 * The handler of each job, by its name. Only the process that runs a job loads its handler, because the code that a
 * job needs takes long to load.
 */
const loaders: Record<string, () => Promise<{ default: Handler }>> = {
  'send-email': () => import('./send-email.ts'),
  'send-sms': () => import('./send-sms.ts'),
  'release-sms': () => import('./release-sms.ts'),
  'expand-batch': () => import('./expand-batch.ts'),
  'simulator-answer': () => import('./simulator-answer.ts'),
  'deliver-webhook': () => import('./deliver-webhook.ts'),
  'settle-webhook': () => import('./settle-webhook.ts'),
  'copy-contacts': () => import('./copy-contacts.ts'),
  'count-contacts': () => import('./count-contacts.ts'),
  'check-domains': () => import('./check-domains.ts'),
  'relay-events': () => import('./relay-events.ts'),
  'count-reports': () => import('./count-reports.ts'),
  sweep: () => import('./sweep.ts'),
  'purge-expired': () => import('./purge-expired.ts'),
  'webhook-health': () => import('./webhook-health.ts'),
};

/** The handlers of the jobs of these names. */
export async function loadHandlers(names: readonly string[]): Promise<Handler[]> {
  return await Promise.all(
    names.map(async (name) => {
      const { default: handler } = await loaders[name]!();
      if (handler.job.name !== name)
        throw new Error(`${name} is handled by the handler of ${handler.job.name}`);
      return handler;
    }),
  );
}

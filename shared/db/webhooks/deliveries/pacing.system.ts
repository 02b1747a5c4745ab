import type { RecordOf } from '../../client/table.ts';
import { webhooks } from '../webhooks.ts';

/** The columns of a webhook that decide how much it may be sent now. */
export const pacing = webhooks.pick(
  'active',
  'autoDisabled',
  'pausedUntil',
  'failingSince',
  'consecutiveFailures',
);
export type Pacing = RecordOf<typeof pacing>;

import { deleteBefore } from '../client/rows.system.ts';

export function deleteStopRepliesBefore(until: Date, limit: number): Promise<number> {
  return deleteBefore('sms_stop_replies', 'replied_at', until, limit);
}

import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import * as system from '../../db/system/sms-messages.ts';
import { sendSms } from '../../jobs/send-sms.ts';
import { enqueueAll } from '../../queue.ts';
import { oneByOne } from '../retry-times.ts';
import { wakeOverdue } from '../simulator/answer.ts';
import { wakeRelease } from '../sms-balance.ts';
import { expire } from '../sms-held.ts';
import { matchLeft } from '../sms-receipts.ts';

// Per kind of work and run. What is not reached is reached by one of the next runs, longest due first.
const batchSize = 500;
/** Jobs in Redis up to which those that wait in their rows are let in. */
const mostInRedis = 5_000;

/** Names another job beside the one that a row has, where that is not trusted to run. */
type JobSuffix = (dueAt: Date) => string;

/** Makes again what is missing of the jobs and steps of text messages; returns how many rows it looked at. */
export async function sweep(overdueBefore: Date, suffixOf: JobSuffix): Promise<number> {
  const lost = await system.listDueSms(false, overdueBefore, batchSize);
  await wakeAll(
    lost.map((message) => ({
      ...message,
      dueAt: message.isLeft ? oneByOne(now()) : message.dueAt,
      suffix: suffixOf(message.dueAt),
    })),
  );
  const near = new Date(now().getTime() + config.WAKE_AHEAD_SECONDS * 1000);
  const room = mostInRedis - (await system.findAdmittedCount(mostInRedis));
  const parked = room > 0 ? await system.listDueSms(true, near, room) : [];
  for (let start = 0; start < parked.length; start += batchSize) {
    const some = parked.slice(start, start + batchSize);
    await system.updateSmsAdmitted(
      some.map(({ id }) => id),
      now(),
    );
    await wakeAll(some);
  }
  const expired = await system.listExpiredHeldSms(now(), batchSize);
  for (const { workspaceId, smsId } of expired) await expire(workspaceId, smsId);
  const payable = await system.listWorkspacesToRelease(batchSize);
  for (const workspaceId of payable) wakeRelease(workspaceId);
  const matched = await matchLeft(batchSize);
  const answers = await wakeOverdue(overdueBefore, batchSize, suffixOf);
  return lost.length + parked.length + expired.length + payable.length + matched + answers;
}

async function wakeAll(messages: (system.WaitingSms & { suffix?: string })[]): Promise<void> {
  const items = messages.map(({ id, dueAt, claims, requestId, suffix }) => ({
    payload: { smsId: id },
    id: `${id}-${claims + 1}${suffix ?? ''}`,
    at: dueAt,
    requestId,
  }));
  if (items.length > 0) await enqueueAll(sendSms, 'default', items);
}

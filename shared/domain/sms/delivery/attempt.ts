import { batcher } from '../../../common/batcher.ts';
import { fromNow, now, nowForAll } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import { outsideTransaction } from '../../../db/client.ts';
import * as system from '../../../db/sms/messages.system.ts';
import type { SmsRecord } from '../../../db/sms/messages.ts';
import { listSmsParts } from '../../../db/sms/parts.system.ts';
import type { SmsLane } from '../../../schemas/lanes.ts';
import type { SmsReason } from '../../../schemas/sms/sms.ts';
import { gatewayFor, mayLeave, submit } from '../../../transports/sms.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { findApproved } from '../../senders/senders.ts';
import { obstacleTo } from '../../work/obstacles.ts';
import { prepareAndHandOver } from '../../work/write-outcome.ts';
import * as pauses from '../gateways/pauses.ts';
import { finish } from './finish.ts';
import { fail, judge } from './judge.ts';
import * as reasons from './reasons.ts';
import { isPast, retriesSince } from './times.ts';

/**
 * Makes one attempt to hand a message over: claims it, speaks to the gateway, and writes the outcome. If the worker
 * dies on the way, the sweep finds the message when the lease has ended. `isAlone`: the message has a job of its own,
 * which may come again. `lane`: the lane of its job. `isStalled`: the job was another worker's before.
 */
export async function attempt(
  smsId: string,
  {
    lane = 'default',
    isAlone = true,
    isStalled = false,
  }: { lane?: SmsLane; isAlone?: boolean; isStalled?: boolean } = {},
): Promise<WorkOutcome> {
  // The hand-over must have ended before the lease does.
  const leaseSeconds = Math.max(config.LEASE_SECONDS, 2 * config.SMS_TIMEOUT_SECONDS);
  const until = fromNow(leaseSeconds * 1000);
  const claimed = await system.claimSms({ id: smsId, lane, at: nowForAll(), until, onlyFree: isStalled });
  if (!claimed) return 'dropped';
  const { record, token } = claimed;
  return prepareAndHandOver(
    record,
    {
      work: 'sms',
      leaseSeconds,
      undo: (before) =>
        system.updateSmsClaimUndone({ id: smsId, token, ...before, receiver: record.handoverGateway }),
      giveUp: (next) =>
        isPast(retriesSince(record, now()), next)
          ? finish(token, record, fail(withLostAttempt(record), reasons.crashes))
          : null,
    },
    () => prepare(smsId, claimed, isAlone),
  );
}

/** Returns the hand-over of a claimed message, or its outcome where it is not handed over. */
async function prepare(
  smsId: string,
  claimed: system.ClaimedSms,
  isAlone: boolean,
): Promise<WorkOutcome | (() => Promise<WorkOutcome>)> {
  const { record, token } = claimed;
  const message = withLostAttempt(record);
  const end = (reason: SmsReason) => finish(token, record, fail(message, reason));
  const isOver = (since: Date) => isPast(since, now());
  const obstacle = obstacleTo<SmsReason>(message, { ...claimed, work: 'sms', reasons, isPast: isOver });
  if (obstacle) return obstacle === 'held_back' ? holdBack(smsId, token) : end(obstacle);

  await pauses.heed();
  const gateway = gatewayFor(message, message.gateway);
  const isApproved = () => outsideTransaction(() => areApproved(message));
  if (!gateway) return end((await isApproved()) ? reasons.noRoute : reasons.notApproved);
  const isPartly = message.parts > 1 && message.gateway === gateway.name;
  const taken = isPartly ? await outsideTransaction(() => listSmsParts(smsId, gateway.name)) : [];
  const handover = { id: smsId, lane: message.lane, token, at: now(), receiver: gateway.name };
  // The start of the hand-over is stored while the sender is checked, which saves a round trip. If the text may not go
  // out, its outcome clears it again.
  const [mayGo, isOurs] = await bothOf(isApproved(), system.updateSmsHandoverStarted(handover));
  if (!isOurs) return 'dropped';
  if (!mayGo) return end(reasons.notApproved);
  return async () => {
    const submission = await submit({ ...textOf(message), ...(taken.length > 0 && { taken }) }, gateway);
    return finish(token, record, judge(message, gateway.name, submission, isAlone));
  };
}

/** Waits for both, even if one fails: a claim may be undone only when none of its statements is running. */
async function bothOf<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

/**
 * Returns the message as this attempt finds it. If the worker before us died while it spoke to a gateway, the message
 * may have gone out, and only that gateway can recognise it. The previous version did not store the gateway.
 */
function withLostAttempt(record: SmsRecord): SmsRecord {
  if (!record.handoverAt) return record;
  const gateway = record.handoverGateway ?? record.gateway;
  return { ...record, gateway, uncertainCount: record.uncertainCount + 1 };
}

type Sent = Pick<SmsRecord, 'workspaceId' | 'sender' | 'recipient' | 'country'>;

/**
 * Returns whether the sender may still be used. The texts of a moment mostly have few senders, each of which is read
 * once.
 */
const areApproved = batcher<Sent, boolean>({
  maxItems: 100,
  maxInFlight: 4,
  run: (messages) => {
    const known = new Map<string, Promise<boolean>>();
    return Promise.all(
      messages.map(({ workspaceId, sender, recipient, country }) => {
        const leaves = mayLeave(recipient);
        const key = [workspaceId, country, leaves, sender].join(' ');
        const isApproved =
          known.get(key) ?? findApproved(workspaceId, sender, country, leaves).then(({ ok }) => ok);
        known.set(key, isApproved);
        return isApproved;
      }),
    );
  },
});

/** Ends an attempt while the workspace may not send. The message waits as a row until it is admitted again. */
async function holdBack(smsId: string, token: Buffer): Promise<WorkOutcome> {
  await system.updateSmsHeldBack({ id: smsId, token, at: now() });
  count('sms_held_back');
  return 'dropped';
}

function textOf({ id, workspaceId, lane, sender, recipient, content, parts }: SmsRecord) {
  return { id, workspaceId, lane, sender, recipient, content, parts, wantsReceipt: true };
}

import { now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { insertEvents } from '../../../db/events/events.system.ts';
import * as system from '../../../db/sms/messages.system.ts';
import { countInBatch, type SmsRecord } from '../../../db/sms/messages.ts';
import { insertSmsParts } from '../../../db/sms/parts.system.ts';
import { finisher } from '../../../db/work/outcomes.system.ts';
import { changeWaiting } from '../../../db/work/waiting-counts.ts';
import { isUnnamed } from '../../../transports/sms/smpp/unnamed-part.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import * as events from '../../events/events.ts';
import { jobAfter, writeOutcome } from '../../work/write-outcome.ts';
import * as balance from '../balance.ts';
import * as receipts from '../gateways/receipts.ts';
import { eventOf } from '../record.ts';
import type { SmsJudgement } from './judge.ts';

export async function finish(
  token: Buffer,
  before: SmsRecord,
  judgement: SmsJudgement,
): Promise<WorkOutcome> {
  const { message, metric } = judgement;
  // While a worker holds a message, `dueAt` is the end of the lease.
  const written = writeOutcome(before.dueAt!, () => finishClaim({ token, judgement }));
  if (message.status === 'sent') receipts.follow(message, judgement.parts, written);
  const isOurs = await written;
  // Our lease had ended and another worker has the message now, so our outcome was not written.
  if (!isOurs) return 'dropped';
  count(`sms_${metric}`);
  if (message.status !== 'queued') events.wakeRelay();
  if (message.status === 'sent') await receipts.expect(message, judgement.parts);
  return jobAfter(message);
}

type Finished = { token: Buffer; judgement: SmsJudgement };

const finishClaim = finisher<Finished>(system.smsTable, {
  leaseOf: ({ token, judgement }) => ({ id: judgement.message.id, token }),
  laneOf: ({ judgement }) => judgement.message.lane,
  write: (items) => system.updateSmsOutcomes(items.map(({ token, judgement }) => ({ ...judgement, token }))),
  also: async (items) => {
    const judgements = items.map(({ judgement }) => judgement);
    await insertSmsParts(partsOf(judgements), now());
    const ended = judgements.filter(({ message }) => message.status !== 'queued');
    // A contact may have been erased since the text was claimed.
    const shown = await system.withoutErasedContactsOfAny(ended.map(({ message }) => message));
    await insertEvents(
      shown.map((message) => ({ workspaceId: message.workspaceId, event: eventOf(message) })),
    );
    for (const { message } of ended) {
      await changeWaiting(message.workspaceId, { messages: -1 });
      await countInBatch(message.workspaceId, 'queued', message);
    }
    for (const message of givenBack(judgements)) await balance.giveBack(message);
  },
  batches: system.batches,
});

/** Returns the messages to refund, in an order that all workers share, so that their locks make no deadlock. */
function givenBack(judgements: SmsJudgement[]): SmsRecord[] {
  const keyOf = ({ workspaceId, lineageId }: SmsRecord) => `${workspaceId} ${lineageId}`;
  return judgements
    .filter(({ isGivenBack }) => isGivenBack)
    .map(({ message }) => message)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function partsOf(judgements: SmsJudgement[]) {
  return judgements.flatMap(({ message, parts = [] }) =>
    parts.map((part) => ({
      ...part,
      smsId: message.id,
      gateway: message.gateway!,
      isAwaited: !isUnnamed(part.reference),
    })),
  );
}

import { batcher } from '../../batcher.ts';
import { outsideTransaction, transaction } from '../../db/client.ts';
import { countInBatch, type SmsRecord } from '../../db/sms-messages.ts';
import { insertEvents } from '../../db/system/events.ts';
import * as system from '../../db/system/sms-messages.ts';
import { findOwned } from '../../db/system/work/claim.ts';
import { changeWaiting } from '../../db/waiting-counts.ts';
import { count } from '../../metrics.ts';
import { isNear } from '../../queue.ts';
import type { Outcome } from '../../work/outcome.ts';
import * as events from '../events.ts';
import * as balance from '../sms-balance.ts';
import * as receipts from '../sms-receipts.ts';
import { eventOf } from '../sms-record.ts';
import { writeOutcome } from '../write-outcome.ts';
import type { Judgement } from './judge.ts';

export async function finish(token: Buffer, before: SmsRecord, judgement: Judgement): Promise<Outcome> {
  const { message, metric } = judgement;
  // While a worker holds it, a message is due at the end of the lease.
  const isOurs = await writeOutcome(before.dueAt!, () =>
    outsideTransaction(() => outcomes({ token, judgement })),
  );
  // The lease had ended and somebody else has the message now: what we know is no longer wanted.
  if (!isOurs) return 'dropped';
  count(`sms_${metric}`);
  if (message.status !== 'queued') events.wakeRelay();
  if (message.status === 'sent') await receipts.expect(message);
  if (!message.dueAt) return 'done';
  // A text that found no room in Redis waits in its row; one that is due much later does so anyway.
  if (message.parked && isNear(message.dueAt)) return 'dropped';
  return { retryAt: message.dueAt };
}

type Finished = { token: Buffer; judgement: Judgement };

const outcomes = batcher<Finished, boolean>({
  maxItems: 100,
  maxInFlight: 2,
  run: (items) =>
    transaction(async () => {
      const leaseOf = ({ token, judgement }: Finished) => ({ id: judgement.message.id, token });
      const isOwned = await findOwned(system.smsTable, items.map(leaseOf));
      const results = items.map((item) => isOwned(leaseOf(item)));
      const ours = items.filter((_, index) => results[index]);
      if (ours.length === 0) return results;
      await system.updateSmsOutcomes(ours.map(({ token, judgement }) => ({ ...judgement, token })));
      const mine = ours.map(({ judgement }) => judgement);
      const ended = mine.filter(({ message }) => message.status !== 'queued');
      await insertEvents(
        ended.map(({ message }) => ({ workspaceId: message.workspaceId, event: eventOf(message) })),
      );
      for (const { message } of ended) {
        await changeWaiting(message.workspaceId, { messages: -1 });
        await countInBatch(message.workspaceId, 'queued', message);
      }
      for (const message of givenBack(mine)) await balance.giveBack(message);
      return results;
    }),
});

/** In an order that all workers share, so that none waits for another that waits for it. */
function givenBack(judgements: Judgement[]): SmsRecord[] {
  const keyOf = ({ workspaceId, lineageId }: SmsRecord) => `${workspaceId} ${lineageId}`;
  return judgements
    .filter(({ isGivenBack }) => isGivenBack)
    .map(({ message }) => message)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

import { batcher } from '../../batcher.ts';
import { outsideTransaction, transaction } from '../../db/client.ts';
import type { SmsRecord } from '../../db/sms-messages.ts';
import { insertEvents } from '../../db/system/events.ts';
import * as system from '../../db/system/sms-messages.ts';
import { changeWaiting } from '../../db/waiting-counts.ts';
import { count } from '../../metrics.ts';
import * as events from '../events.ts';
import type { Outcome } from '../outcome.ts';
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
  return message.dueAt ? { retryAt: message.dueAt } : 'done';
}

type Finished = { token: Buffer; judgement: Judgement };

const outcomes = batcher<Finished, boolean>({
  maxItems: 50,
  maxInFlight: 4,
  run: (items) =>
    transaction(async () => {
      const leaseOf = ({ token, judgement }: Finished) => ({ smsId: judgement.message.id, token });
      const isOwned = await system.findOwned(items.map(leaseOf));
      const results = items.map((item) => isOwned(leaseOf(item)));
      const mine = items.filter((_, index) => results[index]).map(({ judgement }) => judgement);
      if (mine.length === 0) return results;
      await system.updateSmsOutcomes(mine.map(({ message }) => message));
      const ended = mine.filter(({ message }) => message.status !== 'queued');
      await insertEvents(
        ended.map(({ message }) => ({ workspaceId: message.workspaceId, event: eventOf(message) })),
      );
      for (const { message } of ended) await changeWaiting(message.workspaceId, { messages: -1 });
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

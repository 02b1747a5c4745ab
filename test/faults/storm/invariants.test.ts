// @slow: each breach is planted into the records of a whole storm.
import { beforeAll, expect, test } from 'vitest';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { useDatabase } from '../../support/database/database.ts';
import { cancelRaces } from './invariants/cancel-races.ts';
import { countedDuplicates } from './invariants/counted-duplicates.ts';
import { equalAnswers } from './invariants/equal-answers.ts';
import { gaplessEvents } from './invariants/gapless-events.ts';
import { identicalCopies } from './invariants/identical-copies.ts';
import { checkInvariants } from './invariants/index.ts';
import { noGhost } from './invariants/no-ghost.ts';
import { nothingLost } from './invariants/nothing-lost.ts';
import { nothingOverdue } from './invariants/nothing-overdue.ts';
import { ownRowsOnly } from './invariants/own-rows-only.ts';
import { quotas } from './invariants/quotas.ts';
import { stateForward } from './invariants/state-forward.ts';
import { suppressionsKept } from './invariants/suppressions-kept.ts';
import type { Item } from './ledger.ts';
import { found, foundWith, items, soundRun } from './planted.ts';
import type { Evidence, InjectedFault, Ledger, World } from './types.ts';

useDatabase();

let world: World;
let ledger: Ledger;
beforeAll(async () => {
  ({ world, ledger } = await soundRun());
}, 400_000);

function itemThat(isWanted: (item: Item) => boolean): Item {
  const item = items().find(isWanted);
  if (!item) throw new Error('The run has met no such item');
  return item;
}
const arrived = (): Item =>
  itemThat(
    ({ kind, key, scheduledMs }) => kind === 'email' && scheduledMs === null && ledger.copies.has(key),
  );
const rowOf = ({ id }: { id: string }) => ({ id: idToBytes(id) });
const secondCopy = (from: Evidence, { key }: Item, changes: object = {}) => {
  const copies = from.ledger.copies.get(key)!;
  copies.push({ ...copies[0]!, atMs: copies[0]!.atMs + 5_000, ...changes });
};
const feedOf = (from: Evidence, { customer }: Item) => from.ledger.feeds[customer]!;

test('a run without faults breaks no invariant', async () => {
  expect(await checkInvariants(world, ledger, { faults: [] })).toEqual([]);
  expect(ledger.oddAnswers).toEqual([]);
});

test('I1 finds what has no end, what never arrived, and what was given up', async () => {
  const item = arrived();
  const stuck = { status: 'queued', due_at: null, sent_at: null };
  expect(await foundWith(nothingLost, 'emails', rowOf(item), stuck)).toBe(
    `accepted, and queued with nothing to come (1): ${item.id}`,
  );
  const givenUp = { status: 'failed', reason_code: 'crashes' };
  expect(await foundWith(nothingLost, 'emails', rowOf(item), givenUp)).toContain('given up');
  const missing = await found(nothingLost, ({ ledger: its }) => void its.copies.delete(item.key));
  expect(missing).toBe(`sent, and it has not arrived (1): ${item.id}`);
  const gone = await found(nothingLost, ({ rows }) => void rows.emails.delete(item.id));
  expect(gone).toContain('there is no such record');
});

test('I1 finds messages of a batch that were never made, or made twice, and a batch that is gone', async () => {
  const [batch] = ledger.batches.values();
  const [reference] = batch!.recipients.keys();
  const { id } = itemThat(({ key }) => key === reference);
  const missing = await found(nothingLost, ({ rows, ledger: its }) => {
    rows.texts.delete(id);
    its.items.delete(id);
  });
  expect(missing).toBe(`a message of a batch was never made (1): ${reference}`);
  const twice = await found(nothingLost, ({ rows }) => void rows.texts.set('sms_other', rows.texts.get(id)!));
  expect(twice).toBe(`a message of a batch was made more than once (1): ${reference}`);
  const gone = await found(nothingLost, ({ rows }) => void rows.batches.delete(batch!.id));
  expect(gone).toContain(`there is no such batch (1): ${batch!.id}`);
});

test('I2 finds what nobody asked for, and what arrives after its cancellation', async () => {
  const item = arrived();
  expect(await foundWith(noGhost, 'emails', rowOf(item), { status: 'cancelled' })).toContain(
    'it is cancelled',
  );
  const ghost = await found(noGhost, ({ ledger: its }) => {
    its.copies.set('ghost', its.copies.get(item.key)!);
    its.requests.delete(item.key);
  });
  expect(ghost).toContain('there is no such email (1): ghost');
  expect(ghost).toContain(`nobody asked for it (1): ${item.id}`);
  const refused = await found(noGhost, ({ ledger: its }) => {
    its.requests.get(item.key)!.status = 400;
  });
  expect(refused).toContain('its request was refused');
});

test('I3 finds a second copy, unless a kill or a lost answer between the two explains it', async () => {
  const item = arrived();
  const firstMs = ledger.copies.get(item.key)![0]!.atMs;
  const withFault = (target: string, kind: string, atMs = firstMs + 2_000) =>
    found(countedDuplicates, (its) => {
      secondCopy(its, item);
      // Stalls of a busy machine would explain the second copy as well.
      its.ledger.stalls = [];
      its.faults = [{ kind, target, atMs, lastedMs: 100 }] satisfies InjectedFault[];
    });
  // Without its stalls the run may have other second copies without a cause, so only the planted one is checked.
  expect(await withFault('worker_email-2', 'kill -9')).not.toContain(item.key);
  expect(await withFault('smtp', 'cut')).not.toContain(item.key);
  expect(await withFault('mysql', 'freeze')).not.toContain(item.key);
  expect(await withFault('worker_email-2', 'cut off from MySQL')).not.toContain(item.key);
  for (const [target, kind] of [
    ['web-1', 'kill -9'],
    ['redis', 'kill -9'],
    ['mysql', 'refuse'],
    ['mysql', 'kill -9 of the server'],
    ['worker_email-1', 'SIGTERM'],
    ['worker_email-2', 'cut off from Redis'],
    ['worker_sms-1', 'kill -9'],
  ] as const)
    expect(await withFault(target, kind)).toContain(item.key);
  const tooEarly = await withFault('worker_email-2', 'kill -9', firstMs - 60_000);
  expect(tooEarly).toContain('no fault explains');
  expect(tooEarly).toContain(item.key);
  const thrice = await found(countedDuplicates, (its) => {
    secondCopy(its, item);
    secondCopy(its, item);
    its.faults = [{ kind: 'kill -9', target: 'worker_email-1', atMs: firstMs, lastedMs: 0 }];
  });
  expect(thrice).toContain('more than twice');
});

test('I4 finds a copy with other bytes, and a delivery whose body changed', async () => {
  const item = arrived();
  const other = await found(identicalCopies, (its) => secondCopy(its, item, { hash: 'another' }));
  expect(other).toBe(`its copies differ (1): ${item.key}`);
  const renamed = await found(identicalCopies, (its) => secondCopy(its, item, { messageId: '<x@y>' }));
  expect(renamed).toContain('several Message-IDs');
  const changed = await found(identicalCopies, (its) => {
    [...its.world.receivers.received.values()][0]!.hashes.push('another');
  });
  expect(changed).toContain('the body of a delivery changed');
});

test('I5 finds a state that went back, and one that was never told', async () => {
  const item = arrived();
  expect(await foundWith(stateForward, 'emails', rowOf(item), { status: 'sent' })).toBe(
    `is sent, and was told to be delivered (1): ${item.id}`,
  );
  const back = await found(stateForward, (its) => {
    const { events } = feedOf(its, item);
    events.push({ ...events.find(({ recordId }) => recordId === item.id)!, updatedMs: 0 });
  });
  expect(back).toContain('email: queued after delivered');
  expect(back).toContain('updatedAt fell');
});

test('I6 finds a cancellation that was answered otherwise than it went', async () => {
  const item = itemThat(({ kind, cancelled }) => kind === 'email' && cancelled?.status === 200);
  expect(await foundWith(cancelRaces, 'emails', rowOf(item), { status: 'sent' })).toContain(item.id);
  const both = await found(cancelRaces, ({ ledger: its }) => {
    its.copies.set(item.key, its.copies.get(arrived().key)!);
  });
  expect(both).toBe(`it was cancelled, and it has arrived (1): ${item.id}`);
  const refused = await found(cancelRaces, ({ ledger: its }) => {
    its.items.get(item.id)!.cancelled!.status = 409;
  });
  expect(refused).toContain('the cancellation was refused');
});

test('I7 finds parts and money that do not add up', async () => {
  const [unlimited, , paying] = ledger.customers;
  const lineage = { lineage_id: idToBytes(unlimited!.limited.keyId) };
  const wrong = { used_in_day: 61, used_in_month: 61 };
  const used = await foundWith(quotas, 'key_usage', lineage, wrong);
  expect(used).toContain('and 61 are counted');
  expect(used).toContain('more than the 60 parts');
  const own = { workspace_id: idToBytes(paying!.workspaceId) };
  const overdrawn = await foundWith(quotas, 'sms_balances', own, { balance: -1 });
  expect(overdrawn).toContain('its ledger adds up to');
  expect(overdrawn).toContain('negative');
  const text = itemThat(({ kind }) => kind === 'sms');
  expect(await foundWith(quotas, 'sms_messages', rowOf(text), { charged: 7 })).toContain('charged otherwise');
});

test('I8 finds events that the feed left out, moved or changed, and deliveries that are missing', async () => {
  const item = arrived();
  const own = ledger.feeds[item.customer]!.events;
  const at = own.findIndex(({ recordId }) => recordId === item.id);
  const leftOut = await found(gaplessEvents, (its) => void feedOf(its, item).events.splice(at, 1));
  expect(leftOut).toContain(`the feed never told it (1): ${own[at]!.eventId}`);
  expect(leftOut).toContain('read again, the feed is another');
  const moved = await found(gaplessEvents, (its) => {
    const { events } = feedOf(its, item);
    events.push(...events.splice(at, 1));
  });
  expect(moved).toContain('out of its order');
  const event = { id: idToBytes(own[at]!.eventId) };
  expect(await foundWith(gaplessEvents, 'events', event, { position: null })).toContain(
    'no place in the feed',
  );
  expect(await foundWith(gaplessEvents, 'events', event, { record_seq: 9 })).toContain(
    'of its record stands',
  );
  const [id, delivery] = [...world.receivers.received][0]!;
  const never = await found(gaplessEvents, (its) => void its.world.receivers.received.delete(id));
  expect(never).toBe(`a delivery is delivered, and was never accepted (1): ${id}`);
  const missing = await found(gaplessEvents, ({ rows }) => void rows.deliveries.delete(id));
  expect(missing).toContain(`a webhook has 0 deliveries of an event (1): ${delivery.eventId}`);
});

test('I9 finds a second effect, and an answer that changed', async () => {
  const [one, other] = items().filter(({ kind }) => kind === 'email');
  const twice = await foundWith(equalAnswers, 'emails', rowOf(other!), { client_reference: one!.key });
  expect(twice).toContain(`it had 2 effects (1): ${one!.key}`);
  const changed = await found(equalAnswers, ({ ledger: its }) => {
    its.requests.get(one!.key)!.hashes.push('another');
  });
  expect(changed).toBe(`its answers were not the same (1): ${one!.key}`);
});

test('I10 finds what went to one who was suppressed', async () => {
  const item = arrived();
  const sent = await found(suppressionsKept, ({ ledger: its }) => {
    its.items.get(item.id)!.isToSuppressed = true;
  });
  expect(sent).toBe(`it has arrived at one who is suppressed (1): ${item.id}`);
});

test('I11 finds rows that nobody takes up or gives back, and what took too long', async () => {
  const item = arrived();
  const past = new Date(ledger.startedMs - 60_000);
  const overdue = { status: 'queued', due_at: past };
  expect(await foundWith(nothingOverdue, 'emails', rowOf(item), overdue)).toContain(item.id);
  const held = { lease_token: Buffer.alloc(16, 1) };
  expect(await foundWith(nothingOverdue, 'emails', rowOf(item), held)).toContain('a worker holds it');
  const event = { id: idToBytes(feedOf({ ledger } as Evidence, item).events[0]!.eventId) };
  expect(await foundWith(nothingOverdue, 'events', event, { position: null })).toContain('left over');
  const slow = await found(nothingOverdue, (its) => {
    for (const event of feedOf(its, item).events) if (event.recordId === item.id) event.occurredMs += 900_000;
  });
  expect(slow).toContain('late (1)');
});

test('I12 finds what has come to another workspace', async () => {
  const item = arrived();
  const bystander = ledger.customers.find(({ isBystander }) => isBystander)!;
  const foreign = { workspace_id: idToBytes(bystander.workspaceId) };
  const [deliveryId] = [...world.receivers.received.keys()];
  const where = { id: idToBytes(deliveryId!) };
  const joined = await foundWith(ownRowsOnly, 'webhook_deliveries', where, foreign);
  expect(joined).toContain('a delivery joins two workspaces');
  expect(joined).toContain('the bystander has it');
  const misled = await found(ownRowsOnly, (its) => {
    its.ledger.copies.get(item.key)![0]!.recipient = 'eve@example.com';
    feedOf(its, item).events[0]!.workspaceId = bystander.workspaceId;
    its.ledger.oddAnswers.push({ operation: 'read another workspace', text: 'GET: 200' });
  });
  expect(misled).toContain('it went to eve@example.com');
  expect(misled).toContain("told what is another's");
  expect(misled).toContain('GET: 200');
});

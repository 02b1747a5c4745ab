import { now } from '../../../common/clock.ts';
import { problem } from '../../../common/errors.ts';
import { semaphore } from '../../../common/semaphore.ts';
import { takeLease } from '../../../coordination/leases.ts';
import type { SmsBatchRecord } from '../../../db/sms/batches/batches.ts';
import type { BatchRow } from '../../../db/sms/batches/rows.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import type { NewSmsBatch, SmsBatchPreview } from '../../../schemas/sms/batches.ts';
import * as contactLists from '../../contact-lists/contact-lists.ts';
import { seesAll } from '../../requests/visibility.ts';
import { busy } from '../../template-faults.ts';
import { costToWire } from '../prices.ts';
import { madeOf, mostErrorsShown, newRecord } from './create.ts';
import { type Made, makeMessages } from './messages.ts';
import { prepare } from './prepare.ts';
import { SandboxBusy } from './render.ts';
import { nextMembers, rowOf } from './work/copy-lists.ts';

/** A preview takes less time than this. */
const leaseSeconds = 60;
// A second limit, in this process only: while Redis is away, every caller gets the lease.
const inProcess = semaphore({ permits: () => 1, waitMs: 0, mostWaiting: 0 });

const mostChecked = 10_000;
const rowsAtOnce = 500;
/** Rows that have not been rendered by then are estimated: a request does not wait for templates that take long. */
const looksMs = 10_000;
const mostSamples = 3;

/**
 * Makes the preview of a batch. The messages are made as a worker would make them, and thrown away. A request is
 * refused where the batch would be refused.
 */
export async function preview(caller: Caller, request: NewSmsBatch): Promise<SmsBatchPreview> {
  if (request.listIds && !caller.scopes.has('contacts.read'))
    throw problem('forbidden', { detail: 'The field listIds needs the scope contacts.read' });
  const end = await takeTurn(caller.workspaceId);
  if (!end)
    throw problem('rate_limited', {
      detail: 'This workspace has another batch preview running. Wait until it has ended',
      retryAfterSeconds: 1,
    });
  try {
    return await makePreview(caller, request);
  } catch (error) {
    throw error instanceof SandboxBusy ? busy() : error;
  } finally {
    await end();
  }
}

/** Takes the workspace's only place for a preview, over all processes; null while another preview has it. */
async function takeTurn(workspaceId: string): Promise<(() => Promise<void>) | null> {
  const release = await inProcess.acquire(workspaceId);
  if (!release) return null;
  const end = await takeLease(`preview:${workspaceId}`, leaseSeconds);
  if (end) return () => end().finally(release);
  release();
  return null;
}

async function makePreview(caller: Caller, request: NewSmsBatch): Promise<SmsBatchPreview> {
  const checked = await prepare(caller, request);
  const at = now();
  const batch = { ...newRecord(caller, request, madeOf(checked), at), startedAt: at };
  const wrong = new Set(checked.errors.map(({ index }) => index));
  const places = (request.messages ?? []).flatMap((_message, index) => (wrong.has(index) ? [] : [index]));
  const tally = openTally(checked.errors);
  const endAt = performance.now() + looksMs;

  const { rows, total } = batch.lists
    ? await membersOf(batch, endAt)
    : { rows: checked.rows, total: checked.rows.length };
  while (tally.lookedAt < rows.length && (tally.lookedAt === 0 || performance.now() < endAt)) {
    const start = tally.lookedAt;
    const made = await makeMessages(batch, rows.slice(start, start + rowsAtOnce), now(), { givesUp: false });
    for (const [index, one] of made.entries()) tally.add(one, places[start + index] ?? start + index);
  }
  return toWire(tally, total, seesAll(caller));
}

/**
 * Reads members of the lists until `endAt`, or until there are enough rows to check. Returns the rows that these
 * members would become, and an estimate of the number of all rows.
 */
async function membersOf(batch: SmsBatchRecord, endAt: number): Promise<{ rows: BatchRow[]; total: number }> {
  const { workspaceId, lists } = batch;
  const rows = new Map<string, BatchRow>();
  let place = { listIndex: 0, listAfter: null as string | null };
  let read = 0;
  const isAll = () => place.listIndex >= lists!.listIds.length;
  while (!isAll() && rows.size <= mostChecked && (read === 0 || performance.now() < endAt)) {
    const members = await nextMembers({ ...batch, ...place });
    for (const contact of members.contacts)
      if (!rows.has(contact.number)) rows.set(contact.number, rowOf(contact, rows.size));
    read += members.read;
    place = members.next;
  }
  const looked = [...rows.values()].slice(0, mostChecked);
  if (isAll()) return { rows: looked, total: rows.size };
  // The estimate assumes that the unread members have the same share of left-out members as the read ones.
  const members = await contactLists.memberCount(workspaceId, lists!.listIds);
  return { rows: looked, total: Math.max(rows.size, Math.round((rows.size * members) / Math.max(1, read))) };
}

type PreviewTally = ReturnType<typeof openTally>;

function openTally(wrong: SmsBatchPreview['errors']) {
  const tally = {
    lookedAt: 0,
    recipients: 0,
    suppressed: 0,
    parts: 0,
    gbp: 0 as number | null,
    eur: 0 as number | null,
    encodings: { gsm7: 0, ucs2: 0 },
    errors: [...wrong],
    samples: [] as NonNullable<SmsBatchPreview['samples']>,

    /** `index`: the place of its row. */
    add(made: Made, index: number): void {
      tally.lookedAt += 1;
      if (!made) return;
      tally.recipients += 1;
      const { message, reason } = made;
      if (reason?.category === 'suppressed') tally.suppressed += 1;
      else if (reason) tally.errors.push({ index, error: reason.description ?? reason.code });
      if (reason) return;
      const { parts, encoding, cost, content } = message;
      tally.parts += parts;
      tally.encodings[encoding] += 1;
      tally.gbp = sum(tally.gbp, cost.gbp);
      tally.eur = sum(tally.eur, cost.eur);
      if (tally.samples.length < mostSamples)
        tally.samples.push({ recipient: message.recipient, content, parts, encoding });
    },
  };
  return tally;
}

/** Null where a price is not known: the sum of the known prices would look like the whole price. */
const sum = (one: number | null, other: number | null) =>
  one === null || other === null ? null : one + other;

function toWire(tally: PreviewTally, total: number, seesSamples: boolean): SmsBatchPreview {
  const { lookedAt, gbp, eur, encodings } = tally;
  const estimated = lookedAt < total;
  const scaled = (count: number) => (estimated ? Math.round((count * total) / Math.max(1, lookedAt)) : count);
  const errors = tally.errors.toSorted((one, other) => one.index - other.index);
  return {
    recipients: scaled(tally.recipients),
    suppressed: scaled(tally.suppressed),
    estimated,
    parts: scaled(tally.parts),
    cost: costToWire({ gbp: gbp === null ? null : scaled(gbp), eur: eur === null ? null : scaled(eur) }),
    encodings: { gsm7: scaled(encodings.gsm7), ucs2: scaled(encodings.ucs2) },
    errors: errors.slice(0, mostErrorsShown),
    errorCount: errors.length,
    samples: seesSamples ? tally.samples : null,
  };
}

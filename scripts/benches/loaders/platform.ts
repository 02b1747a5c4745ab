import fs from 'node:fs';
import { now } from '../../../shared/common/clock.ts';
import { currentVersion } from '../../../shared/common/versions.ts';
import { migrateUp } from '../../../shared/db/client/migrate.ts';
import { transaction } from '../../../shared/db/client.ts';
import { insertEvents } from '../../../shared/db/events/events.system.ts';
import type { NewEventRecord } from '../../../shared/db/events/events.ts';
import { insertSms } from '../../../shared/db/sms/messages.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import * as email from '../../../shared/domain/email/email.ts';
import { eventOf } from '../../../shared/domain/email/record.ts';
import * as events from '../../../shared/domain/events/events.ts';
import { encodeCursor } from '../../../shared/domain/requests/cursors.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as smsBatches from '../../../shared/domain/sms/batches/batches.ts';
import * as sms from '../../../shared/domain/sms/sms.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { startUp } from '../../../shared/lifecycle.ts';
import { partitions } from '../../../shared/queue/partitions.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import type { NewEmail } from '../../../shared/schemas/email/email.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';
import {
  type BatchContent,
  batchRowOf,
  batchSources,
  carriedTextOf,
  domain,
  largeEmail,
  plainEmail,
  textOf,
  textSender,
} from '../content.ts';
import { serve } from '../serve.ts';

/**
 * Makes customers, which no request can make, and makes backlogs with the platform's own functions. Requests would make
 * the same rows, but would also take time of a web process. Everything else goes through the client (customer.ts).
 */
export interface Customer {
  key: string;
  dkim: { selector: string; publicKey: string };
}

type Range = { first: number; count: number };

const callsAtOnce = 50;
const rowsAtOnce = 500;
let caller: Caller;
let prepared: NewEventRecord[] = [];

const partsOf = (queueName: string) => partitions().map((partition) => queueOf(queueName, partition));

async function customer(): Promise<Customer> {
  const { id } = await workspaces.create({ name: 'Bench' });
  await senders.addApproved(id, textSender);
  const { key } = await apiKeys.issue(id);
  const { dkimSelector, dkimPublicKey } = await emailDomains.addVerified(id, domain);
  caller = (await authenticate(key))!;
  return { key, dkim: { selector: dkimSelector, publicKey: dkimPublicKey } };
}

const acceptEmails = (range: Range) => acceptAll(range, largeEmail);
const acceptMarketing = (range: Range) =>
  acceptAll(range, (index) => ({ ...plainEmail(index), kind: 'marketing' as const }));

/** Accepts a one-time code. Its address tells the sink when it was requested. */
async function acceptCode(name: string): Promise<void> {
  const recipient = `at-${performance.timeOrigin + performance.now()}-${name}@inbox.example`;
  const checked = await email.prepare(caller, { ...plainEmail(0), recipient, kind: 'authentication' });
  await transaction(() => email.send(caller, checked));
}

/**
 * Stores texts of this customer in the lane of batches, as a batch would: without jobs, so that the sweep admits
 * them.
 */
async function storeTexts({ first, count }: Range): Promise<void> {
  const { message: like } = await sms.prepare(caller, textOf(0));
  for (let start = first; start < first + count; start += rowsAtOnce) {
    const end = Math.min(start + rowsAtOnce, first + count);
    await transaction(async () => {
      for (let index = start; index < end; index += 1) {
        const { recipient, content } = textOf(index);
        const id = newId('sms', now());
        const text = { ...like, id, recipient, content, lane: 'bulk' as const, parked: true };
        await insertSms(caller.workspaceId, text);
      }
    });
  }
}

/** Accepts one batch; its job waits for a worker. */
async function acceptBatch({ content, first, count }: Range & { content: BatchContent }): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => batchRowOf(content, first + index));
  const request = { content: batchSources[content], messages };
  const checked = await smsBatches.prepare(caller, request);
  await transaction(() => smsBatches.create(caller, request, checked));
}

/** Accepts a single text; its reference says when it was requested. */
async function acceptText(name: string): Promise<void> {
  const clientReference = `at-${performance.timeOrigin + performance.now()}-${name}`;
  const prepared = await sms.prepare(caller, { ...textOf(0), clientReference });
  await transaction(() => sms.send(caller, prepared));
}

/** Accepts a text to a number that a carrier reaches; its content says when it was requested. */
async function acceptTimedText(name: string): Promise<void> {
  const content = `at-${performance.timeOrigin + performance.now()}-${name}`;
  const prepared = await sms.prepare(caller, { ...carriedTextOf(0), content });
  await transaction(() => sms.send(caller, prepared));
}

const acceptTexts = (range: Range) => acceptEach(range, textOf);
const acceptCarried = ({ prefix, ...range }: Range & { prefix?: string }) =>
  acceptEach(range, (index) => carriedTextOf(index, prefix));

const acceptEach = ({ first, count }: Range, request: typeof textOf) =>
  each({ first, count }, async (index) => {
    const prepared = await sms.prepare(caller, request(index));
    await transaction(() =>
      sms.send(caller, { ...prepared, message: { ...prepared.message, lane: 'bulk' } }),
    );
  });

function acceptAll(range: Range, request: (index: number) => NewEmail): Promise<void> {
  return each(range, async (index) => {
    const checked = await email.prepare(caller, request(index));
    await transaction(() => email.send(caller, checked));
  });
}

/** Makes the calls, `callsAtOnce` at a time. */
async function each({ first, count }: Range, call: (index: number) => Promise<void>): Promise<void> {
  const left = Array.from({ length: count }, (_, index) => first + index).values();
  const callOn = async () => {
    for (const index of left) await call(index);
  };
  await Promise.all(Array.from({ length: callsAtOnce }, callOn));
}

/** Makes events, not yet stored, and writes the bodies that a webhook will get for them to a file, a line each. */
async function prepareEvents({ count, file }: { count: number; file: string }): Promise<void> {
  const { record } = await email.prepare(caller, plainEmail(0));
  prepared = Array.from({ length: count }, () => eventOf({ ...record, id: newId('email', now()) }));
  const bodies = prepared.map((event) =>
    events.envelope({ ...event, workspaceId: caller.workspaceId }, currentVersion),
  );
  fs.writeFileSync(file, `${bodies.join('\n')}\n`);
}

/** Commits some of the prepared events; nothing is woken. */
async function storeEvents({ first, count }: Range): Promise<void> {
  const { workspaceId } = caller;
  for (let start = first; start < first + count; start += rowsAtOnce) {
    const some = prepared.slice(start, Math.min(start + rowsAtOnce, first + count));
    await insertEvents(some.map((event) => ({ workspaceId, event })));
  }
}

/** Commits `count` events that happen now, and wakes the relay. */
async function storeNow(count: number): Promise<void> {
  const { workspaceId } = caller;
  for (let start = 0; start < count; start += rowsAtOnce) {
    const some = Array.from({ length: Math.min(rowsAtOnce, count - start) }, () => {
      const time = now();
      return events.make(
        'email.queued',
        { id: newId('email', time), seq: 1, data: { note: 'x'.repeat(600) } },
        time,
      );
    });
    await insertEvents(some.map((event) => ({ workspaceId, event })));
  }
  events.wakeRelay();
}

/** Cursors of the customer's feed at these positions. */
function feedCursors(positions: number[]): string[] {
  const binding = { workspaceId: caller.workspaceId, listing: 'events' };
  const at = now().toISOString();
  return positions.map((after) => encodeCursor(binding, { after, since: null, at }));
}

await migrateUp();
await startUp();
serve({
  customer,
  acceptEmails,
  acceptMarketing,
  acceptCode,
  acceptTexts,
  acceptText,
  acceptTimedText,
  acceptCarried,
  acceptBatch,
  storeTexts,
  prepareEvents,
  storeEvents,
  storeNow,
  feedCursors,
  wakeRelay: () => events.wakeRelay(),
  pause: (queueName: string) => Promise.all(partsOf(queueName).map((queue) => queue.pause())),
  resume: (queueName: string) => Promise.all(partsOf(queueName).map((queue) => queue.resume())),
});

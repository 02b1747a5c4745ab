import { beforeAll, expect, test } from 'vitest';
import { execute, query } from '../../../shared/db/client.ts';
import { emailTable } from '../../../shared/db/email/emails.system.ts';
import { type EmailRecordFilter, listEmails } from '../../../shared/db/email/emails.ts';
import { listUnnumberedEvents } from '../../../shared/db/events/events.system.ts';
import { findPositionFurtherOn, listEventsAfter } from '../../../shared/db/events/events.ts';
import { listSms, type SmsRowFilter } from '../../../shared/db/sms/listings.ts';
import { listSuppressions } from '../../../shared/db/suppressions.ts';
import { deliveryTable } from '../../../shared/db/webhooks/deliveries/table.system.ts';
import { listLanes } from '../../../shared/db/work/admission.system.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { type IdPrefix, idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook, nowhere } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { copyRow } from '../../support/database/copied-rows.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

/** Number of rows of one workspace, which owns nearly all rows: this misleads the optimizer most easily. */
const many = 12_000;
const limit = 50;
/** Most rows that a page may read: each row and its index entry, and a few more for the ends. */
const most = 2 * limit + 5;

let own: Awaited<ReturnType<typeof textingWorkspace>>;
/** A webhook with one delivery. */
let webhookId: string;
/** Ids that go up with `n`, all of them long ago. */
const idOf = (kind: number, n: string) => `UNHEX(CONCAT('000${kind}', LPAD(HEX(${n}), 28, '0')))`;

beforeAll(async () => {
  const api = await startApi();
  own = await textingWorkspace();
  const other = await workspace();
  webhookId = (await makeWebhook(own, nowhere)).id;
  const email = idToBytes((await acceptEmail(own, { clientTag: 'Sale', clientReference: 'r-1' })).id);
  const sms = idToBytes((await sendSms(api, own, { clientTag: 'Sale', clientReference: 'r-1' })).id);
  const { body } = await api.request('POST', '/v2/suppressions', {
    key: own.key,
    body: { email: 'gone@example.com', scope: 'all' },
  });
  expect(await relay.relayAll()).toBe(3);
  const [event] = await execute<{ id: Buffer }[]>('SELECT id FROM events WHERE position = 1');
  const theirs = `UNHEX('${idToBytes(other.workspaceId).toString('hex')}')`;
  for (const [name, id] of [
    ['emails', email],
    ['sms_messages', sms],
  ] as const) {
    await copyRow(name, id, many, { id: idOf(1, 'n') });
    await copyRow(name, id, many / 10, { id: idOf(2, 'n'), workspace_id: theirs });
  }
  await copyRow('suppressions', idToBytes(body.id), many, {
    id: idOf(1, 'n'),
    email: "CONCAT('gone', n, '@example.com')",
    email_key: "CONCAT('gone', n, '@example.com')",
  });
  await copyRow('events', event!['id'], many, {
    id: idOf(1, 'n'),
    record_id: idOf(1, 'n'),
    position: 'n + 3',
  });
  await query('ANALYZE TABLE emails, sms_messages, suppressions, events');
});

const places = [null, many - 2_000, 2_000];
const before = (prefix: IdPrefix, place: number | null) =>
  place === null
    ? null
    : idFromBytes(prefix, Buffer.from(`0001${place.toString(16).padStart(28, '0')}`, 'hex'));

const recordsOf = async (page: Promise<{ records: unknown[] }>) => (await page).records;

async function expectCheap(what: unknown, list: () => Promise<unknown[]>): Promise<void> {
  expect(await list()).toHaveLength(limit);
  const read = await rowsRead(list);
  expect({ what, read }).toEqual({ what, read: expect.toSatisfy((count) => count <= most) });
}

test.each<EmailRecordFilter>([
  {},
  { status: 'queued' },
  { kind: 'transactional' },
  { clientTag: 'sale' },
  { clientReference: 'r-1' },
  { status: 'queued', kind: 'transactional' },
  { status: 'queued', clientTag: 'sale' },
  { since: new Date(0) },
])('a page of emails costs the same wherever it is: %o', async (filter) => {
  for (const place of places)
    await expectCheap(place, () =>
      recordsOf(listEmails(own.workspaceId, filter, { limit, before: before('email', place) })),
    );
});

test.each<SmsRowFilter>([
  {},
  { status: 'queued' },
  { direction: 'outbound' },
  { recipient: '+447700900123' },
  { sender: 'Acme' },
  { clientTag: 'sale' },
  { status: 'queued', direction: 'outbound', sender: 'Acme' },
])('a page of texts costs the same wherever it is: %o', async (filter) => {
  for (const place of places)
    await expectCheap(place, () =>
      recordsOf(listSms(own.workspaceId, filter, { limit, before: before('sms', place) })),
    );
});

test.each([{}, { scope: 'all' as const }, { source: 'api' as const }])(
  'a page of suppressions costs the same wherever it is: %o',
  async (filter) => {
    for (const place of places)
      await expectCheap(place, () =>
        recordsOf(listSuppressions(own.workspaceId, filter, { limit, before: before('suppression', place) })),
      );
  },
);

test('a page of the feed costs the same wherever it is', async () => {
  for (const after of [0, 2_000, many / 2, many - 2_000]) {
    const range = { after, upTo: many };
    await expectCheap(after, () => listEventsAfter(own.workspaceId, range, null, limit));
    // The listing reads no more than that page, even if the page has no match.
    const near = { ...range, upTo: after + limit };
    const list = () => listEventsAfter(own.workspaceId, near, ['email.*', 'sms.sent'], limit);
    expect(await rowsRead(list)).toBeLessThanOrEqual(most);
    const furtherOn = () => findPositionFurtherOn(own.workspaceId, after, limit);
    expect(await rowsRead(furtherOn)).toBeLessThanOrEqual(most);
  }
});

test('what has no position yet is found without a look at what has one', async () => {
  await query('UPDATE events SET position = NULL WHERE position > ?', [many - 1_000]);
  await query('ANALYZE TABLE events');
  await expectCheap('unnumbered', () => listUnnumberedEvents(limit));
});

test('of which kinds emails are queued is found in a step for each, however many there are', async () => {
  await query("UPDATE emails SET kind = 'marketing', parked = 1 WHERE workspace_id <> ?", [
    idToBytes(own.workspaceId),
  ]);
  await query('ANALYZE TABLE emails');
  expect(await listLanes(emailTable)).toEqual([
    { lane: 'transactional', parked: false },
    { lane: 'marketing', parked: true },
  ]);
  expect(await rowsRead(() => listLanes(emailTable))).toBeLessThan(20);
});

test('whether deliveries are parked is found in a step for each, however many there are', async () => {
  expect(await listLanes(deliveryTable)).toEqual([{ lane: 'default', parked: false }]);
  const { id } = (await deliveriesOf(webhookId))[0]!;
  await copyRow('webhook_deliveries', idToBytes(id), many, { id: idOf(1, 'n'), event_id: idOf(1, 'n') });
  await query('UPDATE webhook_deliveries SET parked = 1 WHERE id <> ?', [idToBytes(id)]);
  await query('ANALYZE TABLE webhook_deliveries');
  const found = await listLanes(deliveryTable);
  expect(found.toSorted((one, other) => Number(one.parked) - Number(other.parked))).toEqual([
    { lane: 'default', parked: false },
    { lane: 'default', parked: true },
  ]);
  expect(await rowsRead(() => listLanes(deliveryTable))).toBeLessThan(20);
});

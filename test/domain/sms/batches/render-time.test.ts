import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../../shared/domain/sms/batches/batches.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { sandboxStats } from '../../../../shared/sandbox/sandbox.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { makeContacts } from '../../../support/data/address-book.ts';
import { batchOf, messagesTo, newBatch, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const rows = 80;
const part = 300;
/**
 * A template so slow that only few rows go into the sandbox together: it begins no row after 10 ms of CPU time. Even
 * a slow machine, with code that is not compiled yet, renders one row within its limit of 100 ms.
 */
const slow = (text: string) => `{% for i in (1..1500) %}{% assign a = i %}{% endfor %}${text}`;

/** Adds six seconds to the clock after each visit to the sandbox, so that the time for a chunk is over. */
function slowCage(): void {
  const real = performance.now.bind(performance);
  const before = sandboxStats().rendered;
  const spy = vi
    .spyOn(performance, 'now')
    .mockImplementation(() => real() + 6_000 * (sandboxStats().rendered - before));
  onTestFinished(() => spy.mockRestore());
}

/** Works the batch off; returns the position at which each turn began. */
async function positionsOf(id: string): Promise<number[]> {
  const positions: number[] = [];
  for (;;) {
    const [row] = await query<{ expanding: number; next_position: number }[]>(
      'SELECT expanding, next_position FROM sms_batches WHERE id = ?',
      [idToBytes(id)],
    );
    if (positions.at(-1) !== row!['next_position']) positions.push(row!['next_position']);
    if (!row!['expanding']) return positions;
    // The added time also moved the platform's clock, until it read the time of MySQL.
    if ((await attempt(id)) !== 'done') await advanceClock(7_000);
  }
}

/** Returns the messages of the batch, in the order of its rows. */
async function madeOf(id: string): Promise<{ recipient: string; content: string }[]> {
  const found = await query<{ recipient: Buffer; content: string }[]>(
    'SELECT recipient, content FROM sms_messages WHERE batch_id = ? ORDER BY recipient',
    [idToBytes(id)],
  );
  return found.map((row) => ({ recipient: row['recipient'].toString(), content: row['content'] }));
}

test('where rendering takes long, chunks end early: each row is made once, in order, and the next chunk begins behind it', async () => {
  await balance.add(own.workspaceId, 1_000 * part, null);
  // Texts without Liquid need no sandbox, but must wait behind a row that waits for it.
  const isPlain = (place: number) => place < 500 || place % 3 === 0;
  const messages = messagesTo(500 + rows).map((message, place) => ({
    ...message,
    ...(isPlain(place) ? { content: `Text ${place}` } : { data: { place } }),
  }));
  const { id } = await newBatch(api, own, { content: slow('Text {{ place }}'), messages });
  slowCage();
  const positions = await positionsOf(id);
  expect(await madeOf(id)).toEqual(
    messages.map(({ recipient }, place) => ({ recipient, content: `Text ${place}` })),
  );
  expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  expect([positions[0], positions.at(-1)]).toEqual([0, messages.length]);
  // Full chunks would end at 500 and at 580 only.
  expect(positions.length).toBeGreaterThan(3);
  expect(await batchOf(api, own, id)).toMatchObject({
    counts: { total: messages.length, waiting: 0, queued: messages.length, failed: 0 },
  });
  expect(await balance.find(own.workspaceId)).toBe((1_000 - messages.length) * part);
});

test('contacts that are gone count as rows of a chunk that ends early', async () => {
  // The balance is too small for a message: the batch makes its rows and no messages.
  await balance.add(own.workspaceId, 1, null);
  const contacts = await makeContacts(own, rows);
  const list = await api.request('POST', '/v2/contact-lists', { key: own.key, body: { name: 'All' } });
  await api.request('POST', `/v2/contact-lists/${list.body.id}/contacts`, {
    key: own.key,
    body: { contactIds: contacts },
  });
  const { id } = await newBatch(api, own, {
    content: slow('Dear {{ contact.number }}'),
    listIds: [list.body.id],
  });
  await workOff(id);
  const [before] = await query('SELECT row_count, next_position FROM sms_batches WHERE id = ?', [
    idToBytes(id),
  ]);
  expect(before).toEqual({ row_count: rows, next_position: 0 });

  const kept = contacts.filter((_, place) => place % 4 !== 1);
  for (const contact of contacts)
    if (!kept.includes(contact)) await api.request('DELETE', `/v2/contacts/${contact}`, { key: own.key });
  await balance.add(own.workspaceId, rows * part - 1, null);
  await advanceClock(61_000);
  slowCage();
  const positions = await positionsOf(id);
  expect([positions[0], positions.at(-1)]).toEqual([0, rows]);
  expect(positions.length).toBeGreaterThan(3);
  const made = await madeOf(id);
  expect(made).toHaveLength(kept.length);
  expect(new Set(made.map(({ recipient }) => recipient)).size).toBe(kept.length);
  expect(made.map(({ content }) => content)).toEqual(made.map(({ recipient }) => `Dear ${recipient}`));
  expect(await balance.find(own.workspaceId)).toBe((rows - kept.length) * part);
});

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { takeLease } from '../../../../shared/coordination/leases.ts';
import { query } from '../../../../shared/db/client.ts';
import * as smsPrices from '../../../../shared/domain/sms/prices.ts';
import { type Answer, type Client, startApi } from '../../../support/api/start-api.ts';
import { makeContacts } from '../../../support/data/address-book.ts';
import { batchOf, messagesTo, newBatch, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  own = await textingWorkspace();
  await smsPrices.load('country,gbp,eur,validFrom\nGB,0.0400,0.0500,2020-01-01\n');
});

const post = (path: string, body: object, { key } = own): Promise<Answer> =>
  api.request('POST', path, { key, body });
const previewed = async (body: object) => {
  const { status, body: preview } = await post('/v2/sms/batches/preview', { content: 'Hello', ...body });
  expect([status, preview.errors]).toEqual([200, expect.any(Array)]);
  return preview;
};
const suppress = (number: string) => post('/v2/suppressions', { number });
async function listOf(name: string, contactIds: string[]): Promise<string> {
  const { id } = (await post('/v2/contact-lists', { name })).body;
  await post(`/v2/contact-lists/${id}/contacts`, { contactIds });
  return id;
}

test('a preview is what the batch then comes to, and stores nothing', async () => {
  const [first, second, third, fourth] = messagesTo(4) as [object, { recipient: string }, object, object];
  await suppress(second.recipient);
  const body = {
    content: 'Dear {{ name }}, {{ offer }}',
    data: { offer: '10 % off' },
    messages: [
      { recipient: '' },
      { ...first, data: { name: 'Ada' } },
      second,
      { ...third, data: { name: 'Жанна'.repeat(20) } },
      { ...fourth, data: { name: 'x'.repeat(2_000) } },
    ],
  };
  const preview = await previewed(body);
  expect(preview).toEqual({
    recipients: 4,
    suppressed: 1,
    estimated: false,
    parts: 3,
    cost: { gbp: '0.1200', eur: '0.1500' },
    encodings: { gsm7: 1, ucs2: 1 },
    errors: [
      { index: 0, error: expect.stringMatching(/^recipient /) },
      { index: 4, error: 'content renders to a text that takes 14 parts; a message may have at most 10' },
    ],
    errorCount: 2,
    samples: [
      { recipient: '+447911000000', content: 'Dear Ada, 10 % off', parts: 1, encoding: 'gsm7' },
      expect.objectContaining({ parts: 2, encoding: 'ucs2' }),
    ],
  });
  for (const table of ['sms_batches', 'sms_batch_rows', 'sms_messages'])
    expect([table, await query(`SELECT 1 FROM ${table}`)]).toEqual([table, []]);

  const batch = await newBatch(api, own, body);
  await workOff(batch.id);
  const { counts } = await batchOf(api, own, batch.id);
  expect(counts).toMatchObject({ total: preview.recipients, failed: 2 });
  const [sent] = await query(
    "SELECT SUM(parts) AS parts, SUM(cost_gbp) AS gbp FROM sms_messages WHERE status = 'queued'",
  );
  expect([Number(sent!['parts']), Number(sent!['gbp'])]).toEqual([preview.parts, 1200]);
});

test('lists are read with their contacts merged in, each number once, without those that are left out', async () => {
  const contacts = await makeContacts(own, 6, { firstName: 'Ada' });
  const [some, more, none] = [
    await listOf('Some', contacts.slice(0, 4)),
    await listOf('More', contacts.slice(2)),
    await listOf('None', contacts.slice(5)),
  ];
  const preview = await previewed({
    listIds: [some, more],
    excludeLists: [none],
    content: 'Dear {{ contact.firstName }}',
  });
  expect(preview).toMatchObject({ recipients: 5, estimated: false, parts: 5, cost: { gbp: '0.2000' } });
  expect(preview.samples.map(({ content }: { content: string }) => content)).toEqual(
    Array.from({ length: 3 }, () => 'Dear Ada'),
  );
});

test('of more than 10,000 recipients the first 10,000 are looked at, and the figures scaled up', async () => {
  await makeContacts(own, 12_000);
  const { data } = (await api.request('GET', '/v2/contact-lists', { key: own.key })).body;
  const builtin = data.find(({ kind }: { kind: string }) => kind === 'builtin').id;
  const preview = await previewed({ listIds: [builtin] });
  expect(preview).toMatchObject({
    recipients: 12_000,
    estimated: true,
    parts: 12_000,
    encodings: { gsm7: 12_000, ucs2: 0 },
    cost: { gbp: '480.0000', eur: '600.0000' },
  });
});

test('without a price there is no cost', async () => {
  await query("DELETE FROM sms_prices WHERE country = 'GB'");
  await smsPrices.load('country,gbp,eur,validFrom\nFR,0.0400,,2020-01-01\n');
  expect((await previewed({ messages: messagesTo(1) })).cost).toEqual({ gbp: null, eur: null });
});

test('what a batch is refused for, its preview is refused for', async () => {
  const refused = async (body: object) => {
    const [one, other] = await Promise.all([
      post('/v2/sms/batches/preview', body),
      post('/v2/sms/batches', body),
    ]);
    expect(one.body.errors).toEqual(other.body.errors);
    return [one.status, Object.keys(one.body.errors)];
  };
  expect(await refused({ messages: [{ recipient: 'nobody' }], content: 'Hello' })).toEqual([
    400,
    ['messages[0].recipient'],
  ]);
  expect(await refused({ messages: messagesTo(1), content: '{% if %}' })).toEqual([400, ['content']]);
  expect(await refused({ content: 'Hello' })).toEqual([400, ['messages']]);
});

test('samples need content.read and recipients.read, lists lists.read and contacts.read', async () => {
  for (const scopes of [
    ['sms.send', 'content.read'],
    ['sms.send', 'recipients.read'],
  ] as const) {
    const { key } = await textingWorkspace({ scopes });
    const { status, body } = await post(
      '/v2/sms/batches/preview',
      { content: 'Hello', messages: messagesTo(1) },
      { ...own, key },
    );
    expect([status, body.recipients, body.samples]).toEqual([200, 1, null]);
  }
  for (const scope of ['lists.read', 'contacts.read'] as const) {
    const { key } = await textingWorkspace({ scopes: ['sms.send', scope] });
    const lists = { content: 'Hello', listIds: [await listOf(`With ${scope}`, [])] };
    const { status, body } = await post('/v2/sms/batches/preview', lists, { ...own, key });
    expect([status, body.type]).toEqual([403, expect.stringMatching(/forbidden$/)]);
  }
});

test('a workspace has one preview in progress at a time; another workspace need not wait', async () => {
  const body = { content: 'Dear {{ a }}', messages: messagesTo(10_000) };
  const other = await textingWorkspace();
  const answers = await Promise.all([
    post('/v2/sms/batches/preview', body),
    post('/v2/sms/batches/preview', body),
    post('/v2/sms/batches/preview', body, other),
  ]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.headers['retry-after']).toBe('1');
  expect(answers.indexOf(refused)).toBeLessThan(2);
  // After the first preview is over, there is room for the next.
  expect((await post('/v2/sms/batches/preview', body)).status).toBe(200);
});

test('a preview that another process makes counts too, and only while it lasts', async () => {
  const fresh = await textingWorkspace();
  const body = { content: 'Hello', messages: messagesTo(1) };
  const end = await takeLease(`preview:${fresh.workspaceId}`, 60);
  const { status, headers } = await post('/v2/sms/batches/preview', body, fresh);
  expect([status, headers['retry-after']]).toEqual([429, '1']);
  await end!();
  expect((await post('/v2/sms/batches/preview', body, fresh)).status).toBe(200);
});

import { beforeAll, expect, test } from 'vitest';
import * as prices from '../../shared/domain/sms-prices.ts';
import { useDatabase } from '../support/database.ts';
import { importForm } from '../support/form.ts';
import { workOff } from '../support/new-batch.ts';
import { textingWorkspace } from '../support/new-sms.ts';
import { type Client, startApi } from '../support/start-api.ts';

// The examples that customers copy from the guide "Send to many" are sent as they stand on its page.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let examples: string[];
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0400,0.0460,2020-01-01\n');
  const { body: page } = await api.request('GET', '/docs/guides/send-to-many');
  examples = [...page.matchAll(/<pre><code[^>]*>([^]*?)<\/code><\/pre>/g)].map(([, code]) => plain(code));
});

function plain(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_text, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

const example = (part: string): string => examples.find((code) => code.includes(part))!;
/** The text between the quotes behind this option of curl. */
const optionOf = (command: string, option: string): string =>
  new RegExp(`${option}'([^']*)'`).exec(command)![1]!;
const post = (path: string, body: unknown) => api.request('POST', path, { key: own.key, body });
const textsOf = async (id: string) => {
  await workOff(id);
  const { body } = await api.request('GET', `/v2/sms?batchId=${id}`, { key: own.key });
  return body.data.map(({ recipient, content }: any) => [recipient, content]).toReversed();
};

test('the first example makes the texts that the guide says, and its preview is the one shown', async () => {
  const command = example('november-offer');
  expect(command).toContain(`curl ${api.url}/v2/sms/batches `);
  const body = JSON.parse(optionOf(command, '-d '));
  const preview = await post('/v2/sms/batches/preview', body);
  expect(preview.status).toBe(200);
  const shown = JSON.parse(example('"samples"'));
  expect(preview.body).toMatchObject({ ...shown, samples: [shown.samples[0], expect.anything()] });
  const { status, body: batch } = await post('/v2/sms/batches', body);
  expect(status).toBe(201);
  expect(await textsOf(batch.id)).toEqual([
    ['+447700900123', 'Dear Ada, 10 % off until Sunday.'],
    ['+447700900124', 'Dear Grace, 20 % off until Sunday.'],
  ]);
});

test('the example of lists is taken with lists of the workspace, and waits for its time', async () => {
  const lists = await Promise.all(
    ['Members', 'Left out'].map(async (name) => (await post('/v2/contact-lists', { name })).body.id),
  );
  const body = JSON.parse(example('"listIds"'));
  expect([body.listIds.length, body.excludeLists.length]).toEqual([1, 1]);
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  const asked = { ...body, listIds: [lists[0]], excludeLists: [lists[1]], scheduledAt };
  const { status, body: batch } = await post('/v2/sms/batches', asked);
  expect([status, batch.status]).toEqual([201, 'scheduled']);
});

test('the example of a file takes one with the columns that it names', async () => {
  const command = example('customers.csv');
  expect(command).toContain(`curl ${api.url}/v2/sms/batches/import `);
  const settings = optionOf(command, `-F (?='settings)`).replace(/^settings=/, '');
  const form = importForm(
    JSON.parse(settings.replace(/;type=.*$/, '')),
    'Name,Mobile,Order no\nAda,07700 900125,17\n',
  );
  const { status, body } = await api.request('POST', '/v2/sms/batches/import', {
    key: own.key,
    body: form.body,
    headers: form.headers,
  });
  expect([status, body.errors]).toEqual([201, []]);
  expect(await textsOf(body.id)).toEqual([['+447700900125', 'Dear Ada, your order 17 is ready.']]);
});

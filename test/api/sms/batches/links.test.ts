import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import { attempt } from '../../../../shared/domain/sms/delivery/delivery.ts';
import * as shortLinks from '../../../../shared/domain/sms/short-links/short-links.ts';
import { idFromBytes, idToBytes } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newBatch, statusesOf, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    recipient: `+4474001234${`${index}`.padStart(2, '0')}`,
    data: { id: index },
  }));
const linksOf = async (id: string, key = own.key) => {
  const { status, body } = await api.request('GET', `/v2/sms/batches/${id}/links`, { key });
  expect([status, body.nextCursor]).toEqual([200, null]);
  return body.data;
};
const browser = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15';
const notClicked = { clicks: 0, clickedMessages: 0, firstClickedAt: null, lastClickedAt: null };

test('each message of a batch has links of its own, told together by the URL as it was written', async () => {
  const content = 'Order {{ id }}: https://x.example/{{ id }}, terms: https://x.example/terms';
  const messages = [
    ...people(5),
    { recipient: '+447400123499', content: 'Other: https://y.example/a' },
    { recipient: '+447400123498', content: 'None' },
  ];
  const { id } = await newBatch(api, own, { content, messages, shortenLinks: true });
  expect(await linksOf(id)).toEqual([]);
  await workOff(id);
  expect(await statusesOf(id)).toEqual({ queued: 7 });
  const written = [
    { url: 'https://x.example/terms', messages: 5, ...notClicked },
    { url: 'https://x.example/{{ id }}', messages: 5, ...notClicked },
    { url: 'https://y.example/a', messages: 1, ...notClicked },
  ];
  const byUrl = (links: { url: string }[]) => links.toSorted((one, other) => (one.url < other.url ? -1 : 1));
  expect(byUrl(await linksOf(id))).toEqual(written);
  const rows = await query<{ id: Buffer; content: string }[]>(
    'SELECT id, content FROM sms_messages WHERE batch_id = ? ORDER BY id',
    [idToBytes(id)],
  );
  const paths = rows.flatMap(({ content }) => [...content.matchAll(/\/l\/[0-9A-Za-z]{9}/g)].map(String));
  expect([paths.length, new Set(paths).size]).toEqual([11, 11]);
  for (const row of rows) await attempt(idFromBytes('sms', row['id']));
  const follow = (path: string) => api.request('GET', path, { headers: { 'user-agent': browser } });
  expect((await follow(paths[0]!)).headers['location']).toMatch(/^https:\/\/x\.example\/\d$/);
  await follow(paths[0]!);
  await follow(paths[2]!);
  await shortLinks.writeClicks();
  const [first, ...others] = await linksOf(id);
  expect(first).toMatchObject({
    url: 'https://x.example/{{ id }}',
    messages: 5,
    clicks: 3,
    clickedMessages: 2,
  });
  expect(first.lastClickedAt >= first.firstClickedAt).toBe(true);
  expect(byUrl(others)).toEqual(written.filter(({ url }) => !url.includes('{{')));
});

test('without content.read clicks show, and URLs do not', async () => {
  const { id } = await newBatch(api, own, {
    content: 'https://x.example/a',
    messages: people(1),
    shortenLinks: true,
  });
  await workOff(id);
  const { key } = await apiKeys.issue(own.workspaceId, { scopes: ['sms.read'] });
  expect(await linksOf(id, key)).toEqual([{ url: null, messages: 1, ...notClicked }]);
});

test('a message with more links than can be shortened fails, and the others go out', async () => {
  const messages = people(2).map((person, index) => ({
    ...person,
    data: { urls: Array.from({ length: index === 0 ? 11 : 10 }, (_, place) => `http://a.example/${place}`) },
  }));
  const { id } = await newBatch(api, own, {
    content: "{{ urls | join: ' ' }}",
    messages,
    shortenLinks: true,
  });
  await workOff(id);
  expect(await statusesOf(id)).toEqual({ failed: 1, queued: 1 });
  expect(await linksOf(id)).toHaveLength(10);
});

test("another workspace's batch has no links to see", async () => {
  const { id } = await newBatch(api, own, { messages: people(1) });
  const other = await workspace();
  expect((await api.request('GET', `/v2/sms/batches/${id}/links`, { key: other.key })).status).toBe(404);
});

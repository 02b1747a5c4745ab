import { pino } from 'pino';
import { beforeAll, expect, test, vi } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { logger } from '../../../shared/common/logger.ts';
import { takeCounts } from '../../../shared/common/metrics.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import { resealAll } from '../../../shared/domain/operations/secret-rotation.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as shortLinks from '../../../shared/domain/sms/short-links/short-links.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

const recipient = '+447400123456';
const target = 'https://shop.example/orders/7?a=b';

async function accepted(changes: Record<string, unknown> = {}, from = own) {
  const content = `Your order: ${target}.`;
  const message = await sendSms(api, from, { recipient, content, shortenLinks: true, ...changes });
  const [shortUrl] = /http:\S+\/[0-9A-Za-z]{9}/.exec(message.content) ?? [];
  return { id: message.id as string, message, path: shortUrl!.slice(api.url.length) };
}
async function delivered(changes?: Record<string, unknown>, from = own) {
  const text = await accepted(changes, from);
  expect(await attempt(text.id)).toBe('done');
  return text;
}
const linksOf = async (id: string, key = own.key) => {
  const { status, body } = await api.request('GET', `/v2/sms/${id}/links`, { key });
  expect([status, body.nextCursor]).toEqual([200, null]);
  return body.data;
};
const browser = {
  'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15',
};

test('a text goes out with its short link, which leads to the URL once it is handed over', async () => {
  const { id, message, path } = await accepted();
  expect(message.content).toBe(`Your order: ${api.url}${path}.`);
  expect(path).toMatch(/^\/l\/[0-9A-Za-z]{9}$/);
  expect((await api.request('GET', path)).status).toBe(404);
  await attempt(id);
  const { status, headers, body } = await api.request('GET', path, { headers: browser });
  expect([status, headers['location'], headers['cache-control'], body]).toEqual([
    302,
    target,
    'no-store',
    '',
  ]);
  expect(headers).not.toHaveProperty('set-cookie');
});

test('the link of a text that a gateway has in part leads to its URL, though the rest still waits', async () => {
  const { id, path } = await accepted();
  await query('UPDATE sms_messages SET is_partly_taken = 1 WHERE id = ?', [idToBytes(id)]);
  expect((await api.request('GET', path, { headers: browser })).status).toBe(302);
});

test('a click does not wait for the write of its count, which follows', async () => {
  const { id, path } = await delivered();
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = transaction(async () => {
    await query('SELECT * FROM short_links WHERE sms_id = ? FOR UPDATE', [idToBytes(id)]);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  const waits = await watchLockWaits();
  try {
    expect((await api.request('GET', path, { headers: browser })).status).toBe(302);
    await waitFor('the write waits', async () => (await waits.look()).length > 0);
    expect((await api.request('GET', path, { headers: browser })).status).toBe(302);
  } finally {
    over.resolve();
    await Promise.all([holder, waits.close()]);
  }
  await waitFor('both are counted', async () => (await linksOf(id))[0].clicks === 2);
});

test('clicks are counted, with the first and the last; HEAD, previewers and crawlers are not', async () => {
  const { id, path } = await delivered();
  expect(await linksOf(id)).toEqual([
    {
      id: expect.stringMatching(/^link_/),
      url: target,
      shortUrl: api.url + path,
      clicks: 0,
      firstClickedAt: null,
      lastClickedAt: null,
    },
  ]);
  for (const agent of ['facebookexternalhit/1.1 Facebot Twitterbot/1.0', 'WhatsApp/2.23', 'Googlebot/2.1'])
    expect((await api.request('GET', path, { headers: { 'user-agent': agent } })).status).toBe(302);
  expect((await api.request('HEAD', path, { headers: browser })).headers['location']).toBe(target);
  const before = now();
  for (let click = 0; click < 3; click += 1) await api.request('GET', path, { headers: browser });
  // The clicks are written in the background, sometimes in two writes.
  const [link] = await waitFor('clicks', async () => {
    const links = await linksOf(id);
    return links[0].clicks >= 3 && links;
  });
  expect(link.clicks).toBe(3);
  expect(new Date(link.firstClickedAt) >= before).toBe(true);
  expect(link.lastClickedAt >= link.firstClickedAt).toBe(true);
  await advanceClock(60_000);
  await api.request('GET', path, { headers: browser });
  await shortLinks.writeClicks();
  const [again] = await linksOf(id);
  expect([again.clicks, again.firstClickedAt]).toEqual([4, link.firstClickedAt]);
  expect(again.lastClickedAt > link.lastClickedAt).toBe(true);
});

test('a text has a link for each of its URLs, in their order, and parts are counted with them', async () => {
  const long = `https://a.example/${'x'.repeat(300)}`;
  const content = `${long} https://b.example ${long}`;
  const { id, message } = await accepted({ content });
  expect(message.parts).toBe(1);
  expect((await linksOf(id)).map(({ url }: { url: string }) => url)).toEqual([long, 'https://b.example']);
  const preview = (body: object) => api.request('POST', '/v2/sms/preview', { key: own.key, body });
  expect((await preview({ content, shortenLinks: true })).body).toEqual({
    parts: 1,
    encoding: 'gsm7',
    tooManyParts: false,
  });
  expect((await preview({ content })).body).toMatchObject({ parts: 5, encoding: 'gsm7' });
  const tooMany = Array.from({ length: 11 }, (_, index) => `http://a.example/${index}`).join(' ');
  const refused = await preview({ content: tooMany, shortenLinks: true });
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, ['content']]);
});

test('URLs that a template renders are shortened, before characters are replaced', async () => {
  const template = { name: 'Linked', content: 'Dear “{{ name }}”: https://x.example/{{ id }}' };
  await api.request('POST', '/v2/templates', { key: own.key, body: template });
  const data = { name: 'Ada', id: 'é7' };
  const { id, message } = await accepted({
    content: null,
    template: { name: 'Linked', data },
    unicode: 'strip',
  });
  expect(message.content).toMatch(/^Dear "Ada": http:\S+\/l\/[0-9A-Za-z]{9}$/);
  expect((await linksOf(id))[0].url).toBe('https://x.example/é7');
  await attempt(id);
  const path = /\/l\/\S+/.exec(message.content)![0];
  expect((await api.request('GET', path)).headers['location']).toBe('https://x.example/%C3%A97');
});

test('without shortenLinks URLs stay, and there are no links', async () => {
  const { id, content } = await sendSms(api, own, { content: target });
  expect([content, await linksOf(id)]).toEqual([target, []]);
});

test('without content.read clicks show, and URLs do not', async () => {
  const { id } = await accepted();
  const { key } = await apiKeys.issue(own.workspaceId, { scopes: ['sms.read'] });
  expect(await linksOf(id, key)).toEqual([expect.objectContaining({ url: null, shortUrl: null, clicks: 0 })]);
});

test("another workspace's text has no links to see", async () => {
  const { id } = await accepted();
  const other = await workspace();
  expect((await api.request('GET', `/v2/sms/${id}/links`, { key: other.key })).status).toBe(404);
});

test.each([
  '/l/',
  '/l/abcdefghi',
  '/l/abc',
  '/l/abcdefghi/',
  '/l/abcdefghi/more',
  '/l/%E0%A4%A',
  `/l/${'a'.repeat(5_000)}`,
])('%.20s is a plain page that says it is not known', async (path) => {
  const { status, headers, body } = await api.request('GET', path);
  expect([status, headers['cache-control']]).toEqual([404, 'no-store']);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(body).toMatch(/not known/);
  expect(body).not.toMatch(/<(script|img)|(href|src)="(?!data:,")/);
});

test('other methods are refused', async () => {
  const { path } = await delivered();
  const { status, headers } = await api.request('POST', path, { body: {} });
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
});

test('links of a workspace that the operator has blocked are gone, until it is allowed again', async () => {
  const blocked = await textingWorkspace();
  const { path } = await delivered({}, blocked);
  await workspaces.change(blocked.workspaceId, { sendingBlocked: true });
  const { status, body } = await api.request('GET', path);
  expect([status, body]).toEqual([410, expect.stringContaining('switched off')]);
  await workspaces.change(blocked.workspaceId, { sendingBlocked: false });
  expect((await api.request('GET', path)).status).toBe(302);
});

test('links in texts to numbers of nobody lead nowhere, other than in development', async () => {
  const { path } = await delivered({ recipient: '+447700900123' });
  expect((await api.request('GET', path)).status).toBe(404);
  changeSettings({ SHORT_LINKS_TO_DRAMA_NUMBERS: true });
  const inDevelopment = await api.request('GET', path);
  changeSettings({ SHORT_LINKS_TO_DRAMA_NUMBERS: false });
  expect(inDevelopment.status).toBe(302);
});

test('a cancelled text makes no link', async () => {
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  const { id, path } = await accepted({ scheduledAt });
  await api.request('DELETE', `/v2/sms/${id}`, { key: own.key });
  expect((await api.request('GET', path)).status).toBe(404);
});

test('on a domain of their own links stand at the root, and nothing else does', async () => {
  const host = `localhost:${new URL(api.url).port}`;
  const onHost = (way: string) => api.request('GET', way, { headers: { host } });
  changeSettings({ SHORT_LINK_URL: `http://${host}` });
  try {
    const content = `${target} http://${host}/x`;
    const message = await sendSms(api, own, { recipient, content, shortenLinks: true });
    expect(message.content).toMatch(new RegExp(`^http://${host}/[0-9A-Za-z]{9} http://${host}/x$`));
    await attempt(message.id);
    const path = message.content.slice(`http://${host}`.length).split(' ')[0];
    expect((await onHost(path)).headers['location']).toBe(target);
    for (const way of ['/', '/docs', '/health/live', '/openapi.json'])
      expect((await onHost(way)).body).toMatch(/not known/);
    // Operations of the API are not served there either. The client throws, because the page is not in its description.
    await expect(onHost('/v2/sms')).rejects.toThrow(/not known/);
    expect((await api.request('GET', path)).status).toBe(404);
    expect((await api.request('GET', '/health/live')).status).toBe(200);
  } finally {
    changeSettings({ SHORT_LINK_URL: undefined });
  }
});

test('a token is in the database only hashed and sealed, and opens with a new key too', async () => {
  const { id, path } = await accepted();
  const token = path.slice(-9);
  const rows = await query('SELECT * FROM short_links');
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows.map((row) => Object.values(row).map(String)))).not.toContain(token);
  const places = await resealAll();
  expect(places.find(({ place }) => place === 'short_links.token')).toMatchObject({ left: 0 });
  expect((await linksOf(id))[0].shortUrl).toBe(api.url + path);
});

test('neither the log nor the metrics have a token', async () => {
  const { path } = await delivered();
  const lines: string[] = [];
  const stream = (logger as unknown as Record<symbol, { write: (line: string) => void }>)[
    pino.symbols.streamSym
  ]!;
  const written = vi.spyOn(stream, 'write').mockImplementation((line) => void lines.push(line));
  logger.level = 'trace';
  try {
    await api.request('GET', path, { headers: browser });
    await api.request('GET', `${path}?x=${path.slice(3)}`, { headers: browser });
    await api.request('POST', path);
    await shortLinks.writeClicks();
    const ofLinks = () => lines.filter((line) => line.includes('"/l/…"'));
    await waitFor('three lines', () => ofLinks().length === 3);
  } finally {
    logger.level = 'silent';
    written.mockRestore();
  }
  const told = lines.join('') + JSON.stringify(takeCounts());
  expect(told).toContain('short_link_visits');
  expect(told).not.toContain(path.slice(-9));
});

test('links go with their text', async () => {
  const { id, path } = await delivered();
  await advanceClock(91 * 86_400_000);
  await purge();
  expect((await api.request('GET', path)).status).toBe(404);
  expect((await api.request('GET', `/v2/sms/${id}/links`, { key: own.key })).status).toBe(404);
  const [row] = await query('SELECT COUNT(*) AS links FROM short_links');
  // Only the links of texts that still wait are kept.
  const [waiting] = await query(
    "SELECT COUNT(*) AS links FROM short_links l JOIN sms_messages m ON m.id = l.sms_id WHERE m.status = 'queued'",
  );
  expect(row!['links']).toBe(waiting!['links']);
});

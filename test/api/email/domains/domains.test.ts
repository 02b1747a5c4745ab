import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { type Answer, type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { copyRow } from '../../../support/database/copied-rows.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const post = (name: string, key = own.key) =>
  api.request('POST', '/v2/email/domains', { key, body: { name } });
const newName = () => `${randomBytes(6).toString('hex')}.example`;

const statusesOf = (answers: Answer[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);

test('a new domain is pending and says what to publish', async () => {
  const name = newName();
  const { status, body, headers } = await post(name);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^domain_/),
    name,
    status: 'pending',
    records: [
      {
        purpose: 'dkim',
        type: 'TXT',
        name: expect.stringMatching(new RegExp(`^m[0-9a-z]{12}\\._domainkey\\.${name}$`)),
        value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{300,}$/),
        status: 'pending',
        error: null,
      },
      {
        purpose: 'dmarc',
        type: 'TXT',
        name: `_dmarc.${name}`,
        value: 'v=DMARC1; p=none',
        status: 'pending',
        error: null,
      },
    ],
    createdAt: expect.any(String),
    verifiedAt: null,
    lastCheckedAt: null,
  });
  expect(headers['location']).toBe(`${api.url}/v2/email/domains/${body.id}`);
  const found = await api.request('GET', `/v2/email/domains/${body.id}`, { key: own.key });
  expect([found.status, found.body]).toEqual([200, body]);
  // The private key stays on the platform, and is stored sealed.
  expect(JSON.stringify(body)).not.toContain('PRIVATE');
  const [row] = await query<{ dkim_private_key: Buffer }[]>(
    'SELECT dkim_private_key FROM email_domains WHERE name = ?',
    [Buffer.from(name)],
  );
  expect(row!['dkim_private_key'].toString('latin1')).not.toContain('PRIVATE');
});

test('with a domain of bounces, the return path and SPF are asked for too', async () => {
  changeSettings({ RETURN_PATH_DOMAIN: 'bounces.platform.example' });
  const name = newName();
  const { body } = await post(name);
  expect(body.records.map((each: any) => [each.purpose, each.type, each.name, each.value]).slice(1)).toEqual([
    ['return_path', 'CNAME', `bounce.${name}`, 'bounces.platform.example'],
    ['spf', 'TXT', name, 'v=spf1 include:bounces.platform.example ~all'],
    ['dmarc', 'TXT', `_dmarc.${name}`, 'v=DMARC1; p=none'],
  ]);
  changeSettings({ SPF_INCLUDE: '_spf.relay.example' });
  const again = await api.request('GET', `/v2/email/domains/${body.id}`, { key: own.key });
  expect(again.body.records[2].value).toBe('v=spf1 include:_spf.relay.example ~all');
  changeSettings({ RETURN_PATH_DOMAIN: undefined, SPF_INCLUDE: undefined });
});

test.each([
  ['EXAMPLE-one.Example', 'example-one.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['mail.sub.example-two.co.uk', 'mail.sub.example-two.co.uk'],
  [
    `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example`,
    `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example`,
  ],
])('the name %s is taken as %s', async (typed, name) => {
  const { status, body } = await post(typed);
  expect([status, body.name]).toEqual([201, name]);
});

test.each([
  '',
  'com',
  'localhost',
  '.example.com',
  'example..com',
  'example.com.',
  '-a.example',
  'a_b.example',
  'a b.example',
  'user@example.com',
  'https://example.com',
  'example.com/path',
  'example.com:25',
  '127.0.0.1',
  '[::1]',
  '::1',
  '1.2',
  '*.example.com',
  'exam\u200bple.com',
  'example.com\r\nx',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(110)}example`,
])('%j is no name of a sending domain', async (name) => {
  const { status, body } = await post(name);
  expect([status, Object.keys(body.errors ?? {})]).toEqual([400, ['name']]);
});

test('a name is taken in its workspace, however it is written, and free in the others', async () => {
  const name = newName();
  const first = await post(name);
  const again = await post(name.toUpperCase());
  expect([again.status, again.body.type]).toEqual([409, expect.stringMatching(/name_taken$/)]);
  const other = await workspace();
  const elsewhere = await post(name, other.key);
  expect(elsewhere.status).toBe(201);
  // Each workspace proves the domain by a record of its own.
  const [one, two] = [first, elsewhere].map(({ body }) => body.records[0]);
  expect(one.name).not.toBe(two.name);
  expect(one.value).not.toBe(two.value);
});

test('of ten requests at once for one name one succeeds', async () => {
  const name = newName();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(name)));
  expect(statusesOf(answers)).toEqual([201, ...Array<number>(9).fill(409)]);
});

test('the fifty-first is refused, also when several ask at once for the last place', async () => {
  const full = await workspace();
  const [first] = await query('SELECT id FROM email_domains WHERE name = ?', [Buffer.from(full.domain)]);
  await copyRow('email_domains', first!['id'] as Buffer, 48, {
    id: 'UNHEX(LEFT(SHA2(RAND(), 256), 32))',
    name: "CONCAT(n, '.', one.name)",
  });
  const answers = await Promise.all([1, 2, 3].map(() => post(newName(), full.key)));
  expect(statusesOf(answers)).toEqual([201, 409, 409]);
  const refused = answers.find(({ status }) => status === 409)!;
  expect(refused.body.type).toMatch(/limit_exceeded$/);
});

test('the listing is newest first, in pages', async () => {
  const other = await workspace();
  const made: string[] = [];
  for (let index = 0; index < 4; index += 1) made.unshift((await post(newName(), other.key)).body.name);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await api.request('GET', `/v2/email/domains?limit=2${cursor && `&cursor=${cursor}`}`, {
      key: other.key,
    });
    seen.push(...page.body.data.map(({ name }: { name: string }) => name));
    cursor = page.body.nextCursor;
  }
  expect(seen).toEqual([...made, other.domain]);
});

test('what is removed is gone, can no longer send, and can be added anew', async () => {
  const other = await workspace();
  const { body } = await api.request('GET', '/v2/email/domains', { key: other.key });
  const path = `/v2/email/domains/${body.data[0].id}`;
  const send = () =>
    api.request('POST', '/v2/email', {
      key: other.key,
      body: { sender: other.sender, recipient: 'a@example.com', subject: 'S', content: { text: 'T' } },
    });
  expect((await send()).status).toBe(201);
  expect((await api.request('DELETE', path, { key: own.key })).status).toBe(404);
  expect((await api.request('DELETE', path, { key: other.key })).status).toBe(204);
  expect((await api.request('DELETE', path, { key: other.key })).status).toBe(404);
  const refused = await send();
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, ['sender']]);
  const anew = await post(other.domain, other.key);
  expect([anew.status, anew.body.status]).toEqual([201, 'pending']);
  expect((await send()).status).toBe(400);
});

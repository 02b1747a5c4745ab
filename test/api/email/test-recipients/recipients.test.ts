import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { type Answer, type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { linksTo } from '../../../support/data/test-recipients.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});
beforeEach(() => changeSettings({ SYSTEM_SENDER: 'Platform <hello@platform.example>' }));

const path = '/v2/email/test-recipients';
const post = (email: string, key = own.key) => api.request('POST', path, { key, body: { email } });
const remove = (id: string, key = own.key) => api.request('DELETE', `${path}/${id}`, { key });
let count = 0;
const newAddress = () => `Tester-${(count += 1)}@example.com`;
const codeOf = ({ body }: { body: any }) => body.type.split('/').at(-1);

const statusesOf = (answers: Answer[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);

test('a new recipient is not verified, and gets a link', async () => {
  const email = newAddress();
  const { status, body, headers } = await post(email);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^testrecipient_/),
    email,
    verified: false,
    createdAt: expect.any(String),
  });
  expect(headers['location']).toBe(`${api.url}${path}/${body.id}`);
  expect(await linksTo(email)).toEqual([expect.stringMatching(/^\/confirm\/[\w-]{48}$/)]);
});

test('they are listed oldest first, in one page', async () => {
  const other = await workspace();
  const made: string[] = [];
  for (let index = 0; index < 3; index += 1) made.push((await post(newAddress(), other.key)).body.id);
  const { body } = await api.request('GET', path, { key: other.key });
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(made);
  expect(body.nextCursor).toBeNull();
});

test('an address that is there is answered as it is, and gets a new link at most once a minute', async () => {
  const email = newAddress();
  const first = await post(email);
  for (const again of [await post(email), await post(email.toUpperCase())]) {
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers).not.toHaveProperty('location');
  }
  expect(await linksTo(email)).toHaveLength(1);
  await advanceClock(61_000);
  expect((await post(email)).status).toBe(200);
  expect((await post(email)).status).toBe(200);
  expect(await linksTo(email)).toHaveLength(2);
});

test('a verified address gets no more links', async () => {
  const email = newAddress();
  await post(email);
  const [link] = await linksTo(email);
  await api.request('POST', link!);
  await advanceClock(61_000);
  const again = await post(email);
  expect([again.status, again.body.verified]).toEqual([200, true]);
  expect(await linksTo(email)).toHaveLength(1);
});

// Shows A52
test('an address is not flooded by whoever adds and removes it, from however many workspaces', async () => {
  const email = newAddress();
  const answers: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const { key } = await workspace();
    const answer = await post(email, key);
    answers.push(answer.status);
    if (answer.status === 201) await remove(answer.body.id, key);
  }
  expect(answers).toEqual([201, 201, 201, 201, 201, 429, 429]);
  const refused = await post(email);
  expect(codeOf(refused)).toBe('rate_limited');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(23 * 3600);
  await advanceClock(24 * 3_600_000 + 1_000);
  expect((await post(email)).status).toBe(201);
});

test('one that is removed and added within a minute is to wait', async () => {
  const email = newAddress();
  const { body } = await post(email);
  expect((await remove(body.id)).status).toBe(204);
  const refused = await post(email);
  expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  await advanceClock(61_000);
  expect((await post(email)).status).toBe(201);
  expect(await linksTo(email)).toHaveLength(2);
});

// Shows A52
test('a workspace sends so many links a day', async () => {
  const other = await workspace();
  const { body } = await post(newAddress(), other.key);
  await query(
    `INSERT INTO email_test_links (id, workspace_id, email_key, sent_at)
     SELECT UNHEX(LEFT(SHA2(RAND(), 256), 32)), l.workspace_id, CONCAT(seq, l.email_key), l.sent_at
     FROM (WITH RECURSIVE n AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM n WHERE seq < 298) SELECT seq FROM n) AS n
     JOIN email_test_links l ON l.email_key = ?`,
    [Buffer.from(body.email.toLowerCase())],
  );
  expect((await post(newAddress(), other.key)).status).toBe(201);
  expect((await post(newAddress(), other.key)).status).toBe(429);
  expect((await post(newAddress())).status).toBe(201);
});

test.each(['', 'nobody', 'a@b', 'a@example.com, b@example.com', 'Ada <a@example.com>', 'a@exa mple.com'])(
  '%j is refused',
  async (email) => {
    const { status, body } = await post(email);
    expect([status, Object.keys(body.errors)]).toEqual([400, ['email']]);
  },
);

test('ten requests at once for one address make one recipient and one link', async () => {
  const email = newAddress();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(email)));
  expect(statusesOf(answers)).toEqual([...Array<number>(9).fill(200), 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(await linksTo(email)).toHaveLength(1);
});

test('the hundred-and-first is refused, also when several ask at once for the last place', async () => {
  const full = await workspace();
  const { body } = await post(newAddress(), full.key);
  await query(
    `INSERT INTO email_test_recipients (id, workspace_id, email, email_key, created_at)
     SELECT UNHEX(LEFT(SHA2(RAND(), 256), 32)), r.workspace_id, CONCAT(seq, r.email), CONCAT(seq, r.email_key), r.created_at
     FROM (WITH RECURSIVE n AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM n WHERE seq < 98) SELECT seq FROM n) AS n
     JOIN email_test_recipients r ON r.email = ?`,
    [body.email],
  );
  const answers = await Promise.all([1, 2, 3].map(() => post(newAddress(), full.key)));
  expect(statusesOf(answers)).toEqual([201, 409, 409]);
  expect(codeOf(answers.find(({ status }) => status === 409)!)).toBe('limit_exceeded');
  expect((await post(body.email, full.key)).status).toBe(200);
});

test("another workspace's recipients are its own", async () => {
  const other = await workspace();
  const email = newAddress();
  const { body } = await post(email);
  expect((await remove(body.id, other.key)).status).toBe(404);
  expect((await api.request('GET', `${path}/${body.id}`, { key: other.key })).status).toBe(404);
  expect((await post(email, other.key)).status).toBe(201);
  expect((await remove(body.id)).status).toBe(204);
  expect((await remove(body.id)).status).toBe(404);
});

test('where no link can be sent, none is added', async () => {
  const email = newAddress();
  const known = await post(newAddress());
  changeSettings({ SYSTEM_SENDER: undefined });
  const refused = await post(email);
  expect([refused.status, codeOf(refused)]).toEqual([503, 'service_unavailable']);
  expect(refused.body.detail).toContain('Confirmation links cannot be sent');
  expect((await post(known.body.email)).status).toBe(200);
  const { body } = await api.request('GET', path, { key: own.key });
  expect(body.data.some((each: any) => each.email === email)).toBe(false);
});

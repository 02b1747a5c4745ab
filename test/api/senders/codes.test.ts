import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Param, query } from '../../../shared/db/client.ts';
import { findSenderAwaitingCode } from '../../../shared/db/senders/senders.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { codeSentTo, sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let network: ReturnType<typeof useTextGateway>;
beforeAll(async () => {
  api = await startApi();
  network = useTextGateway();
});
beforeEach(async () => {
  own = await workspace();
  network.says = network.works;
  changeSettings({ SMS_TIMEOUT_SECONDS: 10, SMS_SYSTEM_SENDER: 'Messaging' });
});

type Own = typeof own;
let made = 0;
const newMobile = () => `07403${(made += 1).toString().padStart(6, '0')}`;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const request = (name: string, { key }: Own = own, headers = {}): Promise<Answer> =>
  api.request('POST', '/v2/senders', { key, body: { name, sampleContent }, headers });
const verify = (id: string, code: string, { key }: Own = own, headers = {}) =>
  api.request('POST', `/v2/senders/${id}/verify`, { key, body: { code }, headers });
const cancel = (id: string, { key }: Own = own) => api.request('DELETE', `/v2/senders/${id}`, { key });
const check = async (name: string, { key }: Own = own) =>
  (await api.request('GET', `/v2/senders/check?name=${name}`, { key })).body;
const list = async ({ key }: Own = own) => (await api.request('GET', '/v2/senders', { key })).body.data;

const textsTo = (name: string) =>
  network.taken.filter(({ recipient }) => recipient === `+44${name.slice(1)}`);
const codeTo = (name: string) => textsTo(name).at(-1)!.content.slice(0, 6);
const codesTo = (name: string) => textsTo(name).map(({ content }) => content.slice(0, 6));
const other = (code: string) => (code === '000000' ? '000001' : '000000');

/** Matches these digits, but not as a part of a longer number. */
const alone = (code: string) => new RegExp(`(?<!\\d)${code}(?!\\d)`);

const statusesOf = (answers: Answer[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);
const isRefused = ({ status, body }: Answer) => status === 400 && Object.keys(body.errors).join() === 'code';

test('the code goes out from the sender of the platform, with an id of its own, in one part', async () => {
  changeSettings({ SMS_SYSTEM_SENDER: 'Verify' });
  const name = newMobile();
  await request(name);
  expect(textsTo(name)).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      workspaceId: own.workspaceId,
      sender: 'Verify',
      recipient: `+44${name.slice(1)}`,
      content: expect.stringMatching(/^\d{6} /),
      parts: 1,
    },
  ]);
});

test('a code works for ten minutes', async () => {
  const name = newMobile();
  const { id } = (await request(name)).body;
  await advanceClock(10 * minuteMs + 1_000);
  expect(isRefused(await verify(id, codeTo(name)))).toBe(true);
  await request(name);
  await advanceClock(9 * minuteMs);
  expect((await verify(id, codeTo(name))).body.status).toBe('approved');
});

test('a code has five tries, then the right one is as wrong as the others; a new code has its own', async () => {
  const name = newMobile();
  const { id } = (await request(name)).body;
  for (let round = 0; round < 5; round += 1)
    expect(isRefused(await verify(id, other(codeTo(name))))).toBe(true);
  expect(isRefused(await verify(id, codeTo(name)))).toBe(true);
  await request(name);
  for (let round = 0; round < 4; round += 1) await verify(id, other(codeTo(name)));
  expect((await verify(id, codeTo(name))).status).toBe(200);
});

test('guesses at once are no more than the five', async () => {
  const name = newMobile();
  const { id } = (await request(name)).body;
  await Promise.all(Array.from({ length: 20 }, () => verify(id, other(codeTo(name)))));
  const sender = await findSenderAwaitingCode(own.workspaceId);
  expect(sender?.code?.tries).toBe(5);
  expect(isRefused(await verify(id, codeTo(name)))).toBe(true);
});

test('only the last code works, and it works once', async () => {
  const name = newMobile();
  const { id } = (await request(name)).body;
  await request(name);
  const [first, second] = codesTo(name);
  if (first !== second) expect(isRefused(await verify(id, first!))).toBe(true);
  expect((await verify(id, second!)).status).toBe(200);
  expect(isRefused(await verify(id, second!))).toBe(true);
});

test('a code is good for its own sender only', async () => {
  const there = await workspace();
  const name = newMobile();
  const [mine, theirs] = [(await request(name)).body, (await request(name, there)).body];
  const [toMine, toTheirs] = codesTo(name);
  if (toMine !== toTheirs) expect(isRefused(await verify(mine.id, toTheirs!))).toBe(true);
  expect((await verify(mine.id, toTheirs!, there)).status).toBe(404);
  expect((await verify(theirs.id, toTheirs!, there)).status).toBe(200);
  expect((await verify(mine.id, toMine!)).status).toBe(200);
});

// Shows A52
test('three codes an hour go to a number, whichever workspaces ask and however many senders are cancelled', async () => {
  const name = newMobile();
  const first = (await request(name)).body;
  await cancel(first.id);
  const there = await workspace();
  expect((await request(name, there)).status).toBe(201);
  expect((await request(name, there)).status).toBe(200);
  for (const who of [own, there, await workspace()]) {
    const refused = await request(name, who);
    expect([refused.status, codeOf(refused.body)]).toEqual([429, 'verification_limit_reached']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(3_600);
    expect(await check(name, who)).toMatchObject({
      acceptable: false,
      reasons: ['must wait, because too many codes were texted to it, or by this workspace'],
    });
  }
  expect(textsTo(name)).toHaveLength(3);
  // A refused request leaves nothing behind.
  expect(await list()).toEqual([]);
  await advanceClock(hourMs + 1_000);
  for (let round = 0; round < 4; round += 1) expect(await check(name)).toMatchObject({ acceptable: true });
  expect((await request(name)).status).toBe(201);
});

test('six codes a day go to a number', async () => {
  const name = newMobile();
  for (let round = 0; round < 6; round += 1) {
    expect((await request(name)).status).toBeLessThan(300);
    await advanceClock(hourMs / 2);
  }
  const refused = await request(name);
  expect(refused.status).toBe(429);
  const waitMs = Number(refused.headers['retry-after']) * 1000;
  expect(waitMs).toBeGreaterThan(20 * hourMs);
  await advanceClock(waitMs - minuteMs);
  expect((await request(name)).status).toBe(429);
  await advanceClock(minuteMs + 1_000);
  expect((await request(name)).status).toBe(200);
  expect(textsTo(name)).toHaveLength(7);
});

// Shows A52
test('the limit holds for requests of several workspaces at once', async () => {
  const name = newMobile();
  const all = await Promise.all(Array.from({ length: 8 }, () => workspace()));
  const answers = await Promise.all(all.map((who) => request(name, who)));
  expect(statusesOf(answers)).toEqual([...Array<number>(3).fill(201), ...Array<number>(5).fill(429)]);
  expect(textsTo(name)).toHaveLength(3);
});

// Shows A52
test('fifty codes a day go out for a workspace, whatever the numbers', async () => {
  for (let round = 0; round < 50; round += 1) await cancel((await request(newMobile())).body.id);
  const refused = await request(newMobile());
  expect([refused.status, codeOf(refused.body)]).toEqual([429, 'verification_limit_reached']);
  expect((await request(newMobile(), await workspace())).status).toBe(201);
});

test('a try is counted once for its Idempotency-Key, and what it was answered comes again', async () => {
  const name = newMobile();
  const { id } = (await request(name)).body;
  const headers = { 'idempotency-key': 'codes-verify' };
  const answers = [
    await verify(id, codeTo(name), own, headers),
    await verify(id, codeTo(name), own, headers),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[1]!.headers['idempotent-replayed']).toBe('true');
});

test('no code is in the database', async () => {
  const name = newMobile();
  await request(name, own, { 'idempotency-key': 'codes-kept' });
  const tables = await query<{ name: string }[]>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name <> 'simulator_messages'",
  );
  const found: string[] = [];
  for (const { name: table } of tables) {
    const values = (await query<Record<string, Param>[]>(`SELECT * FROM \`${table}\``)).flatMap((row) =>
      Object.values(row),
    );
    const texts = values.map((value) => (value instanceof Buffer ? value.toString('latin1') : String(value)));
    if (texts.some((text) => alone(codeTo(name)).test(text))) found.push(table);
  }
  expect(found).toEqual([]);
});

test('no code is in the log, whether it was sent or not', async () => {
  const { url, output } = await startWeb({ LOG_LEVEL: 'trace' });
  const web = clientOf(url);
  const ask = (name: string) =>
    web.request('POST', '/v2/senders', { key: own.key, body: { name, sampleContent } });
  const name = newMobile();
  expect((await ask(name)).status).toBe(201);
  const code = await codeSentTo(own.workspaceId, name);
  await query('RENAME TABLE simulator_messages TO simulator_messages_away');
  const refused = await ask(name);
  await query('RENAME TABLE simulator_messages_away TO simulator_messages');
  expect(codeOf(refused.body)).toBe('verification_not_sent');
  await waitFor('the log tells of it', () => output().includes('could not be sent'));
  expect(output()).not.toContain('is the code');
  expect(output()).not.toMatch(alone(code));
});

test('counts of codes are purged after a day', async () => {
  await request(newMobile());
  const countOf = async () => Number((await query('SELECT COUNT(*) AS n FROM sender_code_counts'))[0]!['n']);
  expect(await countOf()).toBeGreaterThan(0);
  await advanceClock(26 * hourMs);
  await purge();
  expect(await countOf()).toBe(0);
});

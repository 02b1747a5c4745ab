import { beforeAll, beforeEach, expect, test } from 'vitest';
import { basicLogin } from '../../support/api/basic-login.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

/** One attempt comes back every 20 seconds, which is far longer than a test takes. */
const perMinute = 3;
const password = 'correct horse battery';
const login = (secret: string, from?: string) => ({
  ...basicLogin(secret),
  ...(from && { 'x-forwarded-for': from }),
});

beforeAll(async () => {
  changeSettings({
    OPS_PASSWORD: password,
    AUTH_FAILURES_PER_MINUTE: perMinute,
    RATE_LIMIT_WAIT_SECONDS: 30,
    TRUST_PROXY: 1,
  });
  // Until Redis is up, each process counts alone.
  await waitFor('Redis is there', isRedisUp);
});
beforeEach(forgetRedis);

const ask = (api: Client, secret: string, from?: string) =>
  api.request('GET', '/ops/queues', { headers: login(secret, from) });
const statusOf = async (...call: Parameters<typeof ask>) => (await ask(...call)).status;

test('past the limit no password from an address is looked at, the right one neither; others may sign in', async () => {
  const api = await startApi();
  for (let count = 0; count < perMinute; count += 1) expect(await statusOf(api, `${count}`)).toBe(401);
  for (const guess of ['wrong', password]) {
    const { status, headers, body } = await ask(api, guess);
    expect([status, codeOf(body)]).toEqual([429, 'rate_limited']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(20);
  }
  expect(await statusOf(api, password, '198.51.100.7')).toBe(200);
});

test('guesses that come all at once are counted as well', async () => {
  const api = await startApi();
  const guesses = Array.from({ length: 40 }, (_, index) => (index === 39 ? password : `guess ${index}`));
  const statuses = await Promise.all(guesses.map((guess) => statusOf(api, guess)));
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(perMinute);
  expect(statuses).not.toContain(200);
});

test('the networks of one /48 share a limit ten times as high, and others sign in', async () => {
  const api = await startApi();
  const statuses = [];
  for (let network = 0; network < 11; network += 1)
    for (let count = 0; count < perMinute; count += 1)
      statuses.push(await statusOf(api, 'wrong', `2a00:1:2:${network.toString(16)}::7`));
  expect(statuses.slice(0, 10 * perMinute)).toEqual(Array.from({ length: 10 * perMinute }, () => 401));
  expect(statuses).toContain(429);
  expect(await statusOf(api, password, '2a00:1:2:ffff::7')).toBe(429);
  expect(await statusOf(api, password, '2a00:1:3:ffff::7')).toBe(200);
});

test('all processes count together', async () => {
  const processes = [await startApi(), await startApi()];
  const statuses = [];
  for (let count = 0; count < 6; count += 1) statuses.push(await statusOf(processes[count % 2]!, 'wrong'));
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
});

test('the right password uses nothing up, nor does asking without any', async () => {
  const api = await startApi();
  for (let count = 0; count < 5 * perMinute; count += 1) {
    expect(await statusOf(api, password)).toBe(200);
    expect((await api.request('GET', '/ops/queues')).status).toBe(401);
  }
});

test('failed API keys do not shut the operator out', async () => {
  const api = await startApi();
  const statuses = [];
  for (let count = 0; count < 5; count += 1)
    statuses.push((await api.request('GET', '/v2/email', { key: 'msg_unknown' })).status);
  expect(statuses.at(-1)).toBe(429);
  expect(await statusOf(api, password)).toBe(200);
});

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { forgetRedis } from '../../support/database/database.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { goodKey, signingKey, startSmallApi } from '../endpoint/small-api.ts';

/** One attempt comes back every 20 seconds, which is far longer than a test takes. */
const perMinute = 3;

beforeAll(async () => {
  changeSettings({ RATE_LIMIT_WAIT_SECONDS: 30, AUTH_FAILURES_PER_MINUTE: perMinute });
  atEnd(forgetRedis);
  atEnd(closeQueues);
  await waitFor('Redis is there', isRedisUp);
});
beforeEach(async () => {
  changeSettings({ TRUST_PROXY: 0 });
  await forgetRedis();
});

type Api = Awaited<ReturnType<typeof startSmallApi>>;

/** Sends requests that fail, one for each X-Forwarded-For, one after another, and returns their statuses. */
async function fail(api: Api, forwarded: (string | undefined)[]): Promise<number[]> {
  const statuses = [];
  for (const addresses of forwarded) {
    const headers: Record<string, string> = addresses === undefined ? {} : { 'X-Forwarded-For': addresses };
    statuses.push((await api.call('GET', '/v2/parcels', { key: 'msg_unknown', headers })).status);
  }
  return statuses;
}

async function startBehind(proxies: number | string[]): Promise<Api> {
  changeSettings({ TRUST_PROXY: proxies });
  return startSmallApi();
}

const limited = [401, 401, 401, 429];
const free = [401, 401, 401, 401];

// Shows A13
test('past the limit a failed authentication is a 429 that says when to come again', async () => {
  const api = await startSmallApi();
  const keys = [null, 'msg_unknown', 'nonsense', ''];
  const answers = [];
  for (const key of keys) answers.push(await api.call('GET', '/v2/parcels', { key }));
  expect(answers.map(({ status }) => status)).toEqual(limited);
  const { headers, body } = answers.at(-1)!;
  expect(body).toMatchObject({
    type: `${api.url}/problems/rate_limited`,
    detail: 'One IP address may make at most 3 failed authentications a minute.',
  });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(20);
  expect(headers).not.toHaveProperty('www-authenticate');
});

test('a valid key works from an address whose failures are used up, and uses none of them', async () => {
  const api = await startSmallApi();
  for (let count = 0; count < 10; count += 1)
    expect((await api.call('GET', '/v2/parcels', { key: goodKey })).status).toBe(200);
  expect(await fail(api, Array(4).fill(undefined))).toEqual(limited);
  expect((await api.call('GET', '/v2/parcels', { key: goodKey })).status).toBe(200);
  // A request that a valid caller may not make is no failed authentication.
  expect((await api.call('POST', '/v2/parcels', { key: 'msg_reader' })).status).toBe(403);
});

test('a signature that does not verify is a failed authentication', async () => {
  const api = await startSmallApi();
  const statuses = [];
  for (let count = 0; count < 4; count += 1) {
    const headers = { Signature: 'sig1=:AAAA:', 'Signature-Input': 'sig1=("@method")' };
    const { status, body } = await api.call('GET', '/v2/parcels', { key: signingKey, headers });
    statuses.push(status);
    if (status === 401) expect(body.type).toBe(`${api.url}/problems/signature_invalid`);
  }
  expect(statuses).toEqual(limited);
});

// Shows A13
test('all processes count the failures of an address together', async () => {
  const processes = [await startSmallApi(), await startSmallApi()];
  const statuses = [];
  for (let count = 0; count < 6; count += 1)
    statuses.push(...(await fail(processes[count % 2]!, [undefined])));
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
});

test('with a limit of 0 every failure is a 401', async () => {
  changeSettings({ AUTH_FAILURES_PER_MINUTE: 0 });
  const api = await startSmallApi();
  changeSettings({ AUTH_FAILURES_PER_MINUTE: perMinute });
  expect(await fail(api, Array(20).fill(undefined))).toEqual(Array(20).fill(401));
});

test('without a proxy in front, what a client says about its address means nothing', async () => {
  const api = await startBehind(0);
  expect(await fail(api, ['192.0.2.1', '192.0.2.2', '192.0.2.3, 192.0.2.4', '192.0.2.5'])).toEqual(limited);
});

test('behind one proxy the address is the one that it has added, whatever the client put before', async () => {
  const api = await startBehind(1);
  const from = (last: string) => ['192.0.2.1', '192.0.2.2', '192.0.2.3', 'x'].map((own) => `${own}, ${last}`);
  expect(await fail(api, from('198.51.100.1'))).toEqual(limited);
  expect(await fail(api, from('198.51.100.2'))).toEqual(limited);
  expect(await fail(api, ['198.51.100.3'])).toEqual([401]);
});

test('behind two proxies the address is the one before the last', async () => {
  const api = await startBehind(2);
  const by = (last: string) => `203.0.113.9, 198.51.100.1, ${last}`;
  expect(await fail(api, ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map(by))).toEqual(limited);
  const clients = ['1', '2', '3', '4'].map((end) => `198.51.100.9${end}, 192.0.2.1`);
  expect(await fail(api, clients)).toEqual(free);
});

test('where proxies are named, the address is the last one that none of them has', async () => {
  const api = await startBehind(['loopback', '10.0.0.0/8', '192.168.1.4']);
  const by = (own: string) => `${own}, 198.51.100.1, 192.168.1.4, 10.1.2.3`;
  expect(await fail(api, ['192.0.2.1', '192.0.2.2', '10.0.0.9', 'x'].map(by))).toEqual(limited);
  expect(await fail(api, ['198.51.100.2, 10.1.2.3', '198.51.100.3'])).toEqual([401, 401]);
});

test('where proxies are named, others say nothing of an address', async () => {
  const api = await startBehind(['10.0.0.0/8', '127.0.0.2']);
  expect(await fail(api, ['192.0.2.1', '192.0.2.2', '192.0.2.3, 10.0.0.1', '192.0.2.5'])).toEqual(limited);
});

test.each([
  ['the /64 of IPv6', ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:DB8:1:2::ff', '2001:db8:1:2:a::']],
  [
    'an IPv4 address in IPv6',
    ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1'],
  ],
  ['the proxy, for what is no address', ['192.0.2.1:1024', '192.0.2.1:1025', 'unknown', '_hidden']],
])('one address is %s', async (_name, addresses) => {
  const api = await startBehind(1);
  expect(await fail(api, addresses)).toEqual(limited);
});

test('two networks of IPv6, and two addresses of IPv4, are counted apart', async () => {
  const api = await startBehind(1);
  const apart = ['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:2:1::1', '2001:db8:1:3::1'];
  expect(await fail(api, apart)).toEqual(free);
  expect(
    await fail(
      api,
      ['1', '2', '3', '4'].map((end) => `192.0.2.${end}`),
    ),
  ).toEqual(free);
});

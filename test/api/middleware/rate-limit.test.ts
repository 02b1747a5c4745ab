import { beforeAll, beforeEach, expect, test } from 'vitest';
import { callerLimits } from '../../../api/middleware/rate-limit.ts';
import { tokenBuckets } from '../../../api/middleware/token-buckets.ts';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { forgetRedis } from '../../support/database/database.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { parseRaw, sendRaw, startSmallApi } from '../endpoint/small-api.ts';

beforeAll(async () => {
  changeSettings({ RATE_LIMIT_WAIT_SECONDS: 30 });
  atEnd(forgetRedis);
  atEnd(closeQueues);
  await waitFor('Redis is there', isRedisUp);
});
beforeEach(forgetRedis);

/** So slow that no token comes back while a test runs; the burst is 1. */
const slow = 1e-3;

function setLimits(key: number, workspace: number): void {
  changeSettings({ RATE_LIMIT_PER_SECOND: key, WORKSPACE_RATE_LIMIT_PER_SECOND: workspace });
}

const one = { lineageId: 'one', workspaceId: 'workspace' };
const two = { lineageId: 'two', workspaceId: 'workspace' };

async function passes(limits: ReturnType<typeof callerLimits>, caller: typeof one): Promise<boolean> {
  return (await limits.take(caller)).refusal === null;
}

test('every authenticated answer names the limits, and a 429 says when to come again', async () => {
  setLimits(1, 3);
  const api = await startSmallApi();
  const policies = '"default";q=2;w=2, "workspace";q=6;w=2';
  const first = await api.call('GET', '/v2/parcels');
  expect(first.headers).toMatchObject({
    ratelimit: '"default";r=1;t=1, "workspace";r=5;t=1',
    'ratelimit-policy': policies,
  });
  const forbidden = await api.call('POST', '/v2/parcels', { key: 'msg_reader' });
  expect(forbidden.status).toBe(403);
  expect(forbidden.headers['ratelimit']).toMatch(/^"default";r=1;t=1, "workspace";r=[45];t=1$/);

  const answers: Awaited<ReturnType<typeof api.call>>[] = [];
  // One token comes back each second, so on a slow machine several requests may pass.
  for (let tries = 0; answers.every(({ status }) => status !== 429) && tries < 1000; tries += 1)
    answers.push(await api.call('POST', '/v2/parcels', { body: '{not even JSON' }));
  const refused = answers.at(-1)!;
  expect(refused.body).toMatchObject({
    type: `${api.url}/problems/rate_limited`,
    detail: 'An API key, together with the keys from its rotations, may make at most 1 requests a second.',
  });
  expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-policy': policies });
  expect(refused.headers['ratelimit']).toMatch(/^"default";r=0;t=2, "workspace";r=\d;t=\d$/);

  const nobody = await api.call('GET', '/v2/parcels', { key: null });
  expect(nobody.headers).not.toHaveProperty('ratelimit');
});

test('a limit of 0 is none, and is not named', async () => {
  setLimits(0, 2);
  const limits = callerLimits();
  const { headers } = await limits.take(one);
  expect(headers).toEqual({
    RateLimit: '"workspace";r=3;t=1',
    'RateLimit-Policy': '"workspace";q=4;w=2',
  });
  setLimits(0, 0);
  const none = callerLimits();
  for (let count = 0; count < 1000; count += 1)
    expect(await none.take(one)).toEqual({ refusal: null, headers: {} });
});

test('one key does not use up the limit of another, and a rotated key has no second one', async () => {
  setLimits(slow, 0);
  const limits = callerLimits();
  const rotated = { ...one, keyId: 'another' };
  expect(await passes(limits, one)).toBe(true);
  expect([await passes(limits, one), await passes(limits, rotated)]).toEqual([false, false]);
  expect(await passes(limits, two)).toBe(true);
});

test('the keys of a workspace have one limit together, and other workspaces their own', async () => {
  setLimits(100, slow);
  const limits = callerLimits();
  expect(await passes(limits, one)).toBe(true);
  const { refusal } = await limits.take(two);
  expect(refusal?.options).toMatchObject({
    detail: 'All keys of a workspace together may make at most 0.001 requests a second.',
  });
  expect(refusal?.options.retryAfterSeconds).toBeGreaterThan(900);
  expect(await passes(limits, { ...two, workspaceId: 'other' })).toBe(true);
});

test('what the workspace refuses does not count against the key', async () => {
  setLimits(slow, slow);
  const limits = callerLimits();
  expect(await passes(limits, one)).toBe(true);
  for (let count = 0; count < 20; count += 1) expect(await passes(limits, two)).toBe(false);
  expect(await passes(limits, { ...two, workspaceId: 'moved' })).toBe(true);
});

test('tokens that a process did not need within a second are there for the others', async () => {
  let time = 0;
  const limit = { kind: 'key', perSecond: slow, burst: 40 } as const;
  const processes = [1, 2].map(() => tokenBuckets([limit], () => time));
  const passed = async (process: number, tries: number) => {
    const all = Array.from({ length: tries }, async () => processes[process]!.take(['a']));
    return (await Promise.all(all)).filter(({ refusedBy }) => !refusedBy).length;
  };
  expect(await passed(0, 1)).toBe(1);
  // The first process holds three more tokens for later requests.
  expect(await passed(1, 100)).toBe(36);
  time += 1001;
  expect(await passed(0, 1)).toBe(1);
  time += 1001;
  expect(await passed(1, 100)).toBe(2);
  expect(await passed(0, 100)).toBe(0);
});

test('a request over the limit is answered before its body is read', async () => {
  setLimits(slow, 0);
  const api = await startSmallApi();
  expect((await api.call('GET', '/v2/parcels')).status).toBe(200);
  const head = [
    'POST /v2/parcels HTTP/1.1',
    'Host: localhost',
    'Authorization: Bearer msg_good',
    'Content-Type: application/json',
    'Content-Length: 100000',
  ];
  // Not a byte of the body is ever sent.
  const { status, json } = parseRaw(await sendRaw(api.port, `${head.join('\r\n')}\r\n\r\n`));
  expect([status, json().type]).toEqual([429, `${api.url}/problems/rate_limited`]);
});

test.each([
  ['a key', 20, 0, [one]],
  ['a workspace', 0, 20, [one, two]],
])(
  'of requests at once for %s as many pass as may, over all processes',
  async (_name, key, workspace, callers) => {
    setLimits(key, workspace);
    const processes = [callerLimits(), callerLimits(), callerLimits()];
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 600 }, (_, index) =>
        passes(processes[index % 3]!, callers[index % callers.length]!),
      ),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const passed = answers.filter(Boolean).length;
    expect(passed).toBeGreaterThanOrEqual(40);
    expect(passed).toBeLessThanOrEqual(40 + 20 * seconds);
  },
);

test('a key that is far from its limit never waits for Redis after its first request', async () => {
  const limit = { kind: 'key', perSecond: slow, burst: 4000 } as const;
  const buckets = tokenBuckets([limit], () => 0);
  let waited = 0;
  for (let count = 0; count < 300; count += 1) {
    const taken = buckets.take(['a']);
    if (taken instanceof Promise) waited += 1;
    expect((await taken).refusedBy).toBeNull();
    // Redis answers the questions of this turn of the event loop before it answers isRedisUp.
    await new Promise(setImmediate);
    await isRedisUp();
  }
  expect(waited).toBe(1);
});

test('what a request got of one limit goes back when another limit refuses it', async () => {
  const key = { kind: 'key', perSecond: slow, burst: 5 } as const;
  const workspace = { kind: 'workspace', perSecond: slow, burst: 1 } as const;
  const both = tokenBuckets([key, workspace]);
  const first = Array.from({ length: 10 }, async () => both.take(['a', 'one']));
  expect((await Promise.all(first)).filter(({ refusedBy }) => !refusedBy).length).toBe(1);
  expect((await both.take(['a', 'two'])).refusedBy).toBeNull();
  const other = tokenBuckets([key]);
  const rest = Array.from({ length: 10 }, async () => other.take(['a']));
  expect((await Promise.all(rest)).filter(({ refusedBy }) => !refusedBy).length).toBe(3);
});

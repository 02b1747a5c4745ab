import { expect, test } from 'vitest';
import { rateLimit } from '../../api/middleware/rate-limit.ts';
import { changeSettings } from '../support/settings.ts';
import { startSmallApi } from './small-api.ts';

test('a key may burst to twice its rate, then gets its rate', () => {
  let time = 0;
  const { take } = rateLimit(10, () => time);
  const allowed = (tries: number) =>
    Array.from({ length: tries }, () => take({ keyId: 'a' })).filter((one) => one.isAllowed).length;
  expect(allowed(30)).toBe(20);
  time += 1000;
  expect(allowed(30)).toBe(10);
  time += 3_600_000;
  expect(allowed(30)).toBe(20);
});

test('a refusal says when to come again, and then there is room', () => {
  let time = 0;
  const { take } = rateLimit(0.5, () => time);
  expect(take({ keyId: 'a' }).isAllowed).toBe(true);
  const { isAllowed, retryAfterSeconds } = take({ keyId: 'a' });
  expect([isAllowed, retryAfterSeconds]).toEqual([false, 2]);
  time += 2000;
  expect(take({ keyId: 'a' }).isAllowed).toBe(true);
});

test('one key does not use up the limit of another', () => {
  const { take } = rateLimit(1, () => 0);
  take({ keyId: 'a' });
  take({ keyId: 'a' });
  expect([take({ keyId: 'a' }).isAllowed, take({ keyId: 'b' }).isAllowed]).toEqual([false, true]);
});

test('a clock that stands still or a million keys do not open the limit of a busy key', () => {
  const { take } = rateLimit(1, () => 0);
  for (let round = 0; round < 100; round += 1) {
    for (let key = 0; key < 1000; key += 1) take({ keyId: `${round} ${key}` });
    if (round > 1) expect(take({ keyId: 'busy' }).isAllowed).toBe(false);
    else expect(take({ keyId: 'busy' }).isAllowed).toBe(true);
  }
});

test('every authenticated answer names the limit, and a 429 says when to come again', async () => {
  changeSettings({ RATE_LIMIT_PER_SECOND: 1 });
  const api = await startSmallApi();
  const first = await api.call('GET', '/v2/parcels');
  expect(first.headers).toMatchObject({
    ratelimit: '"default";r=1;t=1',
    'ratelimit-policy': '"default";q=2;w=2',
  });
  const forbidden = await api.call('POST', '/v2/parcels', { key: 'msg_reader' });
  expect([forbidden.status, forbidden.headers['ratelimit']]).toEqual([403, '"default";r=1;t=1']);

  const answers: Awaited<ReturnType<typeof api.call>>[] = [];
  // The machine may be slow, and one token comes back each second.
  for (let tries = 0; answers.every(({ status }) => status !== 429) && tries < 1000; tries += 1)
    answers.push(await api.call('POST', '/v2/parcels', { body: '{not even JSON' }));
  const refused = answers.at(-1)!;
  expect(refused.body.type).toBe(`${api.url}/problems/rate_limited`);
  expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-policy': '"default";q=2;w=2' });
  expect(refused.headers['ratelimit']).toMatch(/^"default";r=0;t=[12]$/);

  const nobody = await api.call('GET', '/v2/parcels', { key: null });
  expect(nobody.headers).not.toHaveProperty('ratelimit');
});

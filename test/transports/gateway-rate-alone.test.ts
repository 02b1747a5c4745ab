import { expect, test } from 'vitest';
import { closeQueues } from '../../shared/queue/queue.ts';
import { setSharers, sharedTokenBucket } from '../../shared/transports/sms/token-bucket.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';

// Nothing listens there.
changeSettings({ REDIS_URL: 'redis://127.0.0.1:1' });
atEnd(closeQueues);
atEnd(() => setSharers(new Map()));

test('while Redis is away a process goes on with its share of the rate', async () => {
  setSharers(new Map([['carrier', 4]]));
  // The share of this process, one of four, is 10 a second.
  const { take } = sharedTokenBucket('carrier', 40);
  const start = performance.now();
  expect(await Promise.all(Array.from({ length: 6 }, () => take(60_000)))).not.toContain(false);
  // Two tokens are there at once, then one comes every 100 ms.
  expect(performance.now() - start).toBeGreaterThanOrEqual(4 * 100 - 1);
  // On a slow machine tokens have come back meanwhile, but never more than two.
  expect(await Promise.all([take(0), take(0), take(0)])).toContain(false);
});

test('without a rate nobody waits, and Redis is not asked', async () => {
  const { take } = sharedTokenBucket('carrier', undefined);
  expect(await Promise.all(Array.from({ length: 100 }, () => take(0)))).not.toContain(false);
});

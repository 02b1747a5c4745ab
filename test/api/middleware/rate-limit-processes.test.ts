// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { clientOf } from '../../support/api/api-client.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const perSecond = 5;
const burst = 10;

// Shows A51
test('the limit of a key is one for all processes, to the request', async () => {
  const [own, other] = [await workspace(), await workspace()];
  // With this long wait for Redis, no process counts alone, however busy the machine is.
  changeSettings({ RATE_LIMIT_PER_SECOND: perSecond, RATE_LIMIT_WAIT_SECONDS: 30 });
  const web = await startWeb();
  await waitFor('Redis is there', isRedisUp);
  // The second client asks the API in this process.
  const clients = [clientOf(web.url), await startApi()];
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      clients[index % 2]!.request('GET', '/v2/webhooks', { key: own.key }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const passed = answers.filter(({ status }) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(burst);
  expect(passed).toBeLessThanOrEqual(burst + perSecond * seconds);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBe(answers.length - passed);
  for (const { headers } of refused) {
    expect(headers['retry-after']).toBe('1');
    expect(headers['ratelimit-policy']).toBe('"default";q=10;w=2');
  }
  for (const client of clients)
    expect((await client.request('GET', '/v2/webhooks', { key: other.key })).status).toBe(200);
});

import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { workspace } from '../data/factory.ts';
import { useDatabase } from '../database/database.ts';
import { runWorkers } from '../processes/run-workers.ts';
import { startApi } from './start-api.ts';

useDatabase();

test('the API in this process knows the keys of the factory, and its own address', async () => {
  const api = await startApi();
  expect(config.PUBLIC_URL).toBe(api.url);
  const { key } = await workspace({ scopes: ['webhooks.read'] });
  expect(await api.request('GET', '/v2/webhooks', { key })).toMatchObject({
    status: 200,
    body: { data: [] },
  });
  expect(await api.request('GET', '/v2/webhooks')).toMatchObject({
    status: 401,
    headers: { 'content-type': expect.stringContaining('application/problem+json') },
    body: { type: `${api.url}/problems/unauthenticated` },
  });
  const forbidden = await api.request('POST', '/v2/webhooks', { key, body: { name: 'Orders' } });
  expect(forbidden).toMatchObject({ status: 403, body: { type: `${api.url}/problems/forbidden` } });
  await api.close();
  await expect(api.request('GET', '/v2/webhooks', { key })).rejects.toThrow();
});

test('workers in this process stop', async () => {
  const workers = await runWorkers();
  await workers.stop();
  await workers.stop();
});

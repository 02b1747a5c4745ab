// @slow: it starts processes or servers of its own.
import { request } from 'undici';
import { expect, test } from 'vitest';
import { clientOf } from '../api/api-client.ts';
import { workspace } from '../data/factory.ts';
import { useDatabase } from '../database/database.ts';
import { startWeb, startWorkerProcess } from './processes.ts';
import { runWorkers } from './run-workers.ts';

useDatabase();

test('a web process answers for the database of this file, hangs while frozen, and ends in order', async () => {
  const { key } = await workspace();
  const web = await startWeb();
  const client = clientOf(web.url);
  expect((await client.request('GET', '/v2/webhooks', { key })).status).toBe(200);
  web.freeze();
  await expect(request(`${web.url}/health/live`, { headersTimeout: 500 })).rejects.toThrow('Headers Timeout');
  web.thaw();
  expect((await client.request('GET', '/v2/webhooks', { key })).status).toBe(200);
  expect(await web.stop()).toEqual({ code: 0, signal: null });
  expect(web.output()).toContain('web started');
});

test('a worker process ends in order, or at once when killed', async () => {
  const [first, second] = await Promise.all(
    ['sweep', 'count-contacts'].map((name) => startWorkerProcess([name])),
  );
  expect(await first!.stop()).toEqual({ code: 0, signal: null });
  expect(second!.isRunning()).toBe(true);
  expect(await second!.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(second!.isRunning()).toBe(false);
});

test('a process that cannot start says why', async () => {
  await expect(startWorkerProcess(['no-such-job'])).rejects.toThrow('There is no job "no-such-job"');
  await expect(startWeb({ SECRET_KEY: 'nonsense' })).rejects.toThrow('SECRET_KEY');
});

test('workers of an unknown lane do not start, and say which lanes there are', async () => {
  const lanes = 'Lanes: authentication transactional marketing';
  await expect(runWorkers(['send-email:codes'])).rejects.toThrow(`no lane "codes". ${lanes}`);
});

// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { overview } from '../../../shared/domain/operations/operations.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { startSmallApi } from '../endpoint/small-api.ts';
import { password, samples, shows } from './metrics-page.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  changeSettings({ OPS_PASSWORD: password });
  api = await startApi();
});

test('requests are counted by operation and class of status, and so is their time', async () => {
  const own = await workspace();
  for (const key of [own.key, own.key, 'wrong']) await api.request('GET', '/v2/workspace', { key });
  await api.request('GET', '/health/ready');
  await api.request('GET', '/nowhere');
  await shows(api, {
    'messaging_requests_total{operation="getWorkspace",status="2xx"}': 2,
    'messaging_requests_total{operation="getWorkspace",status="4xx"}': 1,
    'messaging_requests_total{operation="getWorkspace",status="5xx"}': 0,
  });
  const page = await samples(api);
  // Other tests of this file ask for these, too.
  for (const other of ['operation="other",status="4xx"', 'operation="health",status="2xx"'])
    expect(page.get(`messaging_requests_total{${other}}`)).toBeGreaterThanOrEqual(1);
  const seconds = page.get('messaging_request_seconds_total{operation="getWorkspace"}')!;
  expect(seconds).toBeGreaterThan(0.0001);
  expect(seconds).toBeLessThan(600);
});

test('a handler that throws increases the count of its 5xx', async () => {
  const { call } = await startSmallApi();
  expect((await call('POST', '/v2/failures', { body: {} })).status).toBe(500);
  const totals = await waitFor('the total', async () => {
    const found = (await overview()).totals;
    return found?.['requests{operation="fail",status="5xx"}'] ? found : false;
  });
  expect(totals['requests{operation="fail",status="5xx"}']).toBe(1);
  expect(totals['requests{operation="fail",status="2xx"}']).toBe(0);
});

test('the page has the memory and the delay of each process, until the process is gone', async () => {
  const [web, worker] = [await startWeb(), await startWorkerProcess(['sweep', 'relay-events'])];
  const of = (page: Map<string, number>, name: string, type: string, { pid }: { pid: number }) =>
    [...page].find(
      ([key]) => key.startsWith(`messaging_process_${name}{type="${type}",id="`) && key.endsWith(`-${pid}"}`),
    )?.[1];
  const page = await waitFor('the page has both processes', async () => {
    const seen = await samples(api);
    const both = [of(seen, 'resident_memory_bytes', 'web', web)];
    both.push(of(seen, 'resident_memory_bytes', 'sweep+relay-events', worker));
    return both.every((bytes) => bytes !== undefined) && seen;
  });
  for (const [type, process] of [
    ['web', web],
    ['sweep+relay-events', worker],
  ] as const) {
    expect(of(page, 'resident_memory_bytes', type, process)).toBeGreaterThan(20e6);
    expect(of(page, 'event_loop_delay_seconds', type, process)).toBeGreaterThanOrEqual(0);
  }
  await worker.kill();
  await waitFor('the worker is not on the page any more', async () => {
    const seen = await samples(api);
    return of(seen, 'resident_memory_bytes', 'sweep+relay-events', worker) === undefined;
  });
});

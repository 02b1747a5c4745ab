import type { Queue } from 'bullmq';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { queueNames } from '../../../shared/jobs/index.ts';
import { partitions, prefixOf } from '../../../shared/queue/partitions.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { basicLogin } from '../../support/api/basic-login.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { useDatabase } from '../../support/database/database.ts';
import { deleteKeys } from '../../support/database/drop-databases.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let open: Client;
let closed: Client;

const password = 'correct horse: bättery';
const operator = basicLogin(password);

beforeAll(async () => {
  closed = await startApi();
  changeSettings({ OPS_PASSWORD: password });
  open = await startApi();
});

const pages = [
  '/ops',
  '/ops/queues',
  '/ops/queues/',
  '/ops/metrics',
  '/ops/gateways',
  '/ops/queues/api/queues',
  '/ops/queues/static/x.js',
];

test.each(pages)('without OPS_PASSWORD %s does not exist', async (path) => {
  const { status, body } = await closed.request('GET', path, { headers: operator });
  expect(status).toBe(404);
  expect(body.type).toMatch(/\/problems\/not_found$/);
});

test.each(pages)('%s asks for a login, in the way that browsers understand', async (path) => {
  for (const headers of [
    {},
    basicLogin('wrong'),
    basicLogin(''),
    basicLogin(password, 'root'),
    { authorization: `Bearer ${password}` },
    { authorization: 'Basic' },
  ]) {
    const answer = await open.request('GET', path, { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    expect(answer.body.type).toMatch(/\/problems\/unauthenticated$/);
  }
});

test('the first page has the figures and leads to the others, which lead back', async () => {
  const { status, headers, body } = await open.request('GET', '/ops', { headers: operator });
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/html/);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  for (const path of ['/ops/queues', '/ops/metrics', '/ops/gateways']) {
    expect(body).toContain(`href="${path}"`);
    expect((await open.request('GET', path, { headers: operator })).status).toBe(200);
  }
  expect(body).toContain('<td>Webhooks that fail</td><td>0</td>');
  const gateways = await open.request('GET', '/ops/gateways', { headers: operator });
  expect(gateways.body).toContain('href="/ops"');
});

test('the board shows its page, which asks nothing of anybody else', async () => {
  const page = await open.request('GET', '/ops/queues', { headers: operator });
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  expect(page.body).not.toMatch(/(?:src|href|action|url)\s*[=(]\s*["']?(?:https?:)?\/\//i);
  const policy = page.headers['content-security-policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  // The page has no inline script, which the policy would not let run.
  expect(page.body).not.toMatch(/<script(?![^>]* (?:src=|type="application\/json"))|\son\w+=/);
  expect(page.headers['cache-control']).toBe('no-store');
});

test('every script and style that the board names is served from here', async () => {
  const { body } = await open.request('GET', '/ops/queues', { headers: operator });
  const base = /<base href="([^"]+)"/.exec(body)?.[1] ?? '/ops/queues/';
  const assets = [...body.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg|ico|png)[^"]*)"/g)].map(
    ([, path]) => new URL(path as string, open.url + base),
  );
  expect(assets.length).toBeGreaterThan(1);
  for (const { pathname, search } of assets) {
    const asset = await open.request('GET', pathname + search, { headers: operator });
    expect([pathname, asset.status]).toEqual([pathname, 200]);
    if (pathname.endsWith('.css'))
      expect(asset.body).not.toMatch(/@import\s+(url\()?["']?https?:|url\(["']?https?:/);
  }
});

test('the board shows every queue with its jobs, and no data but ids', async () => {
  const job = await queueOf('send-email').add(
    'send-email',
    { emailId: 'email_x', requestId: 'r' },
    { delay: 60_000 },
  );
  const answer = await open.request('GET', '/ops/queues/api/queues?activeQueue=send-email&status=delayed', {
    headers: operator,
  });
  expect(answer.status).toBe(200);
  const shown: { name: string; counts: Record<string, number>; jobs: object[] }[] = answer.body.queues;
  expect(shown.map(({ name }) => name).toSorted()).toEqual(queueNames.toSorted());
  const queue = shown.find(({ name }) => name === 'send-email');
  expect(queue!.counts['delayed']).toBe(1);
  expect(queue!.jobs[0]).toMatchObject({ id: job.id, data: { emailId: 'email_x', requestId: 'r' } });
  await job.remove();
});

test('the board shows the partitions of a queue as one queue, and what is done to a queue is done in all of them', async () => {
  changeSettings({ QUEUE_PARTITIONS: 3 });
  onTestFinished(async () => {
    for (const partition of partitions().slice(1)) await deleteKeys(config.REDIS_URL, prefixOf(partition));
    changeSettings({ QUEUE_PARTITIONS: 1 });
  });
  const board = await startApi();
  const name = 'send-email';
  const ask = async (method: 'GET' | 'PUT', path: string, body?: object) => {
    const headers = { ...operator, 'sec-fetch-site': 'same-origin' };
    const answer = await board.request(method, `/ops/queues/api/queues${path}`, {
      headers,
      ...(body && { body }),
    });
    expect([path, answer.status]).toEqual([path, path.endsWith('/clean') ? 204 : 200]);
    return answer.body;
  };
  const shown = async (search = '') => {
    const { queues } = await ask('GET', search);
    expect(queues.map((queue: { name: string }) => queue.name).toSorted()).toEqual(queueNames.toSorted());
    return queues.find((queue: { name: string }) => queue.name === name);
  };
  const parts = partitions().map((partition) => queueOf(name, partition));
  const inEach = <T>(look: (part: Queue) => Promise<T>) => Promise.all(parts.map(look));
  // Most of the jobs are in one partition, so that a page of another length would be noticed.
  const placesByAge = [0, 0, 0, 0, 1, 2, 1, 0, 2];
  const at = Date.now();
  for (const [age, place] of placesByAge.entries())
    await parts[place]!.add(
      name,
      { emailId: 'email_x' },
      { jobId: `job-${age}`, timestamp: at + age, delay: 3_600_000 },
    );

  const pages = await Promise.all(
    [1, 2, 3].map((page) => shown(`?activeQueue=${name}&status=delayed&jobsPerPage=4&page=${page}`)),
  );
  expect(pages.map(({ counts, pagination }) => [counts.delayed, pagination.pageCount])).toEqual(
    pages.map(() => [placesByAge.length, 3]),
  );
  expect(pages.map(({ jobs }) => jobs.map(({ id }: { id: string }) => id).join(' '))).toEqual([
    'job-8 job-7 job-6 job-5',
    'job-4 job-3 job-2 job-1',
    'job-0',
  ]);

  expect((await ask('GET', `/${name}/job-5`)).job.id).toBe('job-5');
  await ask('PUT', `/${name}/job-5/clean`);
  expect(await inEach((part) => part.getDelayedCount())).toEqual([5, 2, 1]);
  await ask('PUT', `/${name}/pause`);
  expect(await inEach((part) => part.isPaused())).toEqual([true, true, true]);
  await parts[1]!.resume();
  expect((await shown()).isPaused).toBe(true);
  await ask('PUT', `/${name}/resume`);
  expect(await inEach((part) => part.isPaused())).toEqual([false, false, false]);
  await ask('PUT', `/${name}/promote`);
  expect(await inEach((part) => part.getWaitingCount())).toEqual([5, 2, 1]);
  expect((await shown(`?activeQueue=${name}`)).jobs).toHaveLength(8);

  await ask('PUT', `/${name}/concurrency`, { concurrency: 6 });
  expect(await inEach((part) => part.getGlobalConcurrency())).toEqual([2, 2, 2]);
  expect((await shown()).globalConcurrency).toBe(6);
  await ask('PUT', `/${name}/concurrency`, { concurrency: 0 });
  expect((await shown()).globalConcurrency).toBeNull();
  await ask('PUT', `/${name}/rate-limit`, { max: 7, duration: 1_000 });
  expect((await ask('GET', `/${name}/rate-limit`)).rateLimit).toEqual({ max: 9, duration: 1_000 });
  await ask('PUT', `/${name}/rate-limit`, { max: null });
  expect((await ask('GET', `/${name}/rate-limit`)).rateLimit).toBeNull();

  await ask('PUT', `/${name}/empty`);
  expect(await inEach((part) => part.count())).toEqual([0, 0, 0]);
});

test.each([
  ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ['from a sibling domain', { 'sec-fetch-site': 'same-site' }],
  ['with a foreign origin', { origin: 'https://evil.example' }],
  ['with a hidden origin', { origin: 'null' }],
])('a POST %s is refused, although the browser sends the password', async (_from, headers) => {
  const path = '/ops/queues/api/queues/send-email/pause';
  const foreign = await open.request('PUT', path, { headers: { ...operator, ...headers } });
  expect(foreign.status).toBe(403);
  expect((await open.request('POST', path, { headers: { ...operator, ...headers } })).status).toBe(403);
  expect(await queueOf('send-email').isPaused()).toBe(false);
});

test('the operator’s own page may act', async () => {
  const queue = queueOf('sweep');
  const act = (action: string) =>
    open.request('PUT', `/ops/queues/api/queues/sweep/${action}`, {
      headers: { ...operator, 'sec-fetch-site': 'same-origin', origin: open.url },
    });
  expect((await act('pause')).status).toBe(200);
  expect(await queue.isPaused()).toBe(true);
  expect((await act('resume')).status).toBe(200);
  expect(await queue.isPaused()).toBe(false);
});

// @slow: it starts, stops and breaks processes of the platform.
import { Redis } from 'ioredis';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { readiness } from '../../../shared/domain/operations/health.ts';
import { password, samples } from '../../api/ops/metrics-page.ts';
import { type Client, clientOf } from '../../support/api/api-client.ts';
import { basicLogin } from '../../support/api/basic-login.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { type PlatformProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { type OwnServer, startOwnRedis } from '../../support/servers/own-servers.ts';
import { monitorRedis } from '../../support/servers/redis-monitor.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let [first, second]: OwnServer[] = [];
let line: TcpProxy;
beforeAll(async () => {
  [first, second] = await Promise.all([startOwnRedis(), startOwnRedis()]);
  line = await startTcpProxy(first.url);
  // Connections use the password of the first server, so the second one gets the same password.
  await say(second.url, ['config', 'set', 'requirepass', new URL(first.url).password]);
  const pass = new URL(second.url);
  pass.password = new URL(first.url).password;
  second = { ...second, url: pass.href };
  changeSettings({ REDIS_URL: line.url });
});
useDatabase();

async function say(url: string, [command, ...args]: [string, ...(string | number)[]]): Promise<any> {
  const redis = new Redis(url);
  try {
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let web: PlatformProcess;
let api: Client;
beforeAll(async () => {
  [own, sink] = await Promise.all([workspace(), startSmtpSink()]);
  const [server] = await Promise.all([
    startWeb({ OPS_PASSWORD: password }),
    startWorkerProcess(['send-email', 'sweep'], { SMTP_URL: sink.url }),
  ]);
  [web, api] = [server, clientOf(server.url)];
});

const ready = async () => (await api.request('GET', '/health/ready')).body;
const limit = { timeoutMs: 120_000 };
const arrived = (recipient: string) => sink.messages.some(({ envelope }) => envelope.to.includes(recipient));

beforeEach(() => waitFor('all is well', async () => (await ready()).redis === 'up', limit));
afterEach(async () => {
  for (const command of [
    ['replicaof', 'no', 'one'],
    ['config', 'set', 'maxmemory', '0'],
    ['config', 'set', 'min-replicas-to-write', '0'],
  ] as [string, ...string[]][])
    await say(first!.url, command);
});

const faults: [string, string, [string, ...string[]]][] = [
  ['is a replica', 'READONLY', ['replicaof', '127.0.0.1', '1']],
  ['is full', 'OOM', ['config', 'set', 'maxmemory', '1mb']],
  ['has lost its replicas', 'NOREPLICAS', ['config', 'set', 'min-replicas-to-write', '1']],
];
// Shows F19, F40
test.each(faults)('a Redis that %s answers a PING, and is down, for %s', async (_name, word, command) => {
  await say(first!.url, command);
  expect(await say(first!.url, ['ping'])).toBe('PONG');
  await waitFor('it is known', async () => {
    const state = await ready();
    // While the process reconnects there is no fault word from Redis.
    expect([undefined, word]).toContain(state.redisFault);
    expect(state).toMatchObject({ ready: true, mysql: 'up' });
    return state.redis === 'down' && state.redisFault === word;
  });
  await waitFor('the metrics show it', async () => (await samples(api)).get('messaging_redis_up') === 0);
});

// Shows F40
test('a Redis that has turned into a replica is left for the one that new connections lead to, and work goes on', async () => {
  await sendEmail(api, own, { recipient: 'before@example.com' });
  await waitFor('the first is sent', () => arrived('before@example.com'), limit);
  await say(first!.url, ['replicaof', '127.0.0.1', new URL(second!.url).port]);
  line.redirect(second!.url);
  const { id } = await sendEmail(api, own, { recipient: 'after@example.com' });
  await waitFor('Redis is up', async () => (await ready()).redis === 'up', limit);
  await waitFor('the second is sent', () => arrived('after@example.com'), limit);
  await waitFor(
    'it counts as sent',
    async () => (await api.request('GET', `/v2/email/${id}`, { key: own.key })).body.status === 'sent',
    limit,
  );
  expect(web.isRunning()).toBe(true);
  line.redirect(first!.url);
  await say(first!.url, ['replicaof', 'no', 'one']);
  line.cut();
});

test('who asks again and again costs Redis one look a second', async () => {
  const redis = new Redis(first!.url);
  let looks = 0;
  let isSeen = false;
  await monitorRedis(first!.url, ([command, ...args]) => {
    if (command === 'eval' && args.some((arg) => arg.includes(':probe:'))) looks += 1;
    if (args.includes('all was asked')) isSeen = true;
  });
  const startedAt = performance.now();
  for (let asked = 0; asked < 300; asked += 1) await readiness();
  const seconds = (performance.now() - startedAt) / 1_000;
  await redis.echo('all was asked');
  await waitFor('Redis has told of all', () => isSeen);
  redis.disconnect();
  expect(looks).toBeGreaterThan(0);
  // One look more is allowed, which the web process may have begun before.
  expect(looks).toBeLessThanOrEqual(2 + seconds);
});

// Shows F40
test('a node of a cluster without slots is down, for CLUSTERDOWN; one that has others of the keys than ours, for MOVED', async () => {
  const nodes = await Promise.all(
    [1, 2].map(async () =>
      startOwnRedis({
        options: ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())],
      }),
    ),
  );
  const [ours, other] = nodes as [OwnServer, OwnServer];
  const lone = await startWeb({ REDIS_URL: ours.url, OPS_PASSWORD: password });
  atEnd(() => lone.stop());
  const there = clientOf(lone.url);
  const saysWhy = (word: string) =>
    waitFor('it is known', async () => {
      const { status, body } = await there.request('GET', '/health/ready');
      expect(status).toBe(200);
      return body.redis === 'down' && body.redisFault === word;
    });
  await saysWhy('CLUSTERDOWN');
  expect(lone.output()).toContain('Redis takes no jobs');
  const page = await there.request('GET', '/ops', { headers: basicLogin(password) });
  expect(page.body).toMatch(/<td>takes no jobs \(CLUSTERDOWN\), \d+ MB: work is accepted and waits<\/td>/);

  const slot = Number(await say(ours.url, ['cluster', 'keyslot', config.QUEUE_PREFIX]));
  const ranges = [[0, slot - 1] as const, [slot + 1, 16_383] as const].filter(([from, to]) => from <= to);
  await say(ours.url, ['cluster', 'addslotsrange', ...ranges.flat()]);
  await say(other.url, ['cluster', 'addslots', slot]);
  const [, busPort] = await say(other.url, ['config', 'get', 'cluster-port']);
  await say(ours.url, ['cluster', 'meet', '127.0.0.1', new URL(other.url).port, busPort]);
  await saysWhy('MOVED');
});

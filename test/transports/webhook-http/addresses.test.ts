import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isForbiddenAddress, parseNetworks } from '../../../shared/formats/network-address.ts';
import { ownNetworks } from '../../../shared/transports/webhook-http/connect.ts';
import {
  createNameResolver,
  type NameResolver,
  type NameResolverOptions,
} from '../../../shared/transports/webhook-http/names.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { type DnsAnswer, type DnsQuestion, startDnsServer } from '../../support/servers/dns-server.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { attemptTo, loopback, startAgent } from './attempt-to.ts';

const blocked = { responseStatus: null, responseBody: null, error: 'blocked_address' };

const privateHosts = `
  127.0.0.1 127.1 2130706433 0x7f.1 0177.0.0.1 0 0.0.0.0 ①②⑦.⓪.⓪.① localhost localhost. api.localhost [::1]
  [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::1] [2002:7f00:1::]
  [2001::1] [fe80::1] [fd00:ec2::254] 169.254.169.254 10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 198.18.0.1 192.0.2.1 224.0.0.1 255.255.255.255 [2001:db8::1] 168.63.129.16
`;

// Shows A41
test.each(privateHosts.trim().split(/\s+/))(
  'without an allowed network, %s is never connected to, over http or https',
  async (host) => {
    const receiver = await startWebhookReceiver();
    const agent = startAgent({ allowed: [] });
    for (const scheme of ['http', 'https'])
      expect(await agent.post(attemptTo(`${scheme}://${host}:${receiver.port}/`))).toMatchObject(blocked);
    expect(receiver.connections.opened).toBe(0);
    await waitFor('the origins to be forgotten', () => agent.originCount() === 0);
  },
);

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['[::ffff:1.2.3.4]', '1.2.3.4'],
  ['[2a00:1450:4001::7]', '2a00:1450:4001::7'],
])('the platform is not reached by its own public address, as %s', async (host, own) => {
  const agent = startAgent({ allowed: [], own: () => parseNetworks([own]) });
  const toAddress = attemptTo(`http://${host}:8080/`, { timeoutMs: 1_000 });
  expect(await agent.post(toAddress)).toMatchObject(blocked);
  const named = startAgent({ allowed: [], own: () => parseNetworks([own]), resolve: async () => [own] });
  const toName = attemptTo('http://hooks.example:8080/', { timeoutMs: 1_000 });
  expect(await named.post(toName)).toMatchObject(blocked);
});

test('an allowed network may have addresses of this machine, which are known by its interfaces', async () => {
  const receiver = await startWebhookReceiver();
  expect(isForbiddenAddress('127.0.0.1', loopback, ownNetworks())).toBe(false);
  const agent = startAgent({ own: ownNetworks });
  expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ error: null });
  const every = parseNetworks(['0.0.0.0/0', '::/0']);
  expect(ownNetworks().length).toBeGreaterThan(0);
  for (const [address] of ownNetworks())
    expect(isForbiddenAddress(address.toString(), every, ownNetworks())).toBe(false);
});

// Shows A42
test.each([
  ['private', ['127.0.0.1']],
  ['private, IPv6', ['::1']],
  ['private IPv4 inside of IPv6', ['::ffff:7f00:1']],
  ['metadata', ['169.254.169.254']],
  ['public first, then private', ['127.0.0.9', '127.0.0.1']],
  ['private first, then public', ['127.0.0.1', '127.0.0.9']],
  ['public IPv4, private IPv6', ['127.0.0.9', 'fd00::1']],
  ['private IPv4, public IPv6', ['10.0.0.1', '2606:4700:4700::1111']],
])('a name is refused when any of its addresses is forbidden: %s', async (_name, list) => {
  const receiver = await startWebhookReceiver({ host: '127.0.0.9' });
  const { resolve } = await startNames(() => ({ addresses: list }));
  // 127.0.0.9 stands for the public internet.
  const agent = startAgent({ resolve, allowed: parseNetworks(['127.0.0.9/32']) });
  for (const scheme of ['http', 'https']) {
    const attempt = attemptTo(`${scheme}://hooks.example:${receiver.port}/`);
    expect(await agent.post(attempt)).toMatchObject(blocked);
  }
  expect(receiver.connections.opened).toBe(0);
});

// Shows A43
test('a name that turns private after it was good is refused at the next connection', async () => {
  const inner = await startWebhookReceiver();
  // A free port of 127.0.0.1 is taken first: in the other order another program might hold it there already.
  const good = await startWebhookReceiver({
    host: '127.0.0.9',
    port: inner.port,
    respond: { headers: { connection: 'close' } },
  });
  let now = '127.0.0.9';
  const { resolve } = await startNames(() => ({ addresses: [now] }));
  const agent = startAgent({ resolve, allowed: parseNetworks(['127.0.0.9/32']) });
  const attempt = attemptTo(`http://hooks.example:${good.port}/`);
  expect(await agent.post(attempt)).toMatchObject({ error: null });
  now = '127.0.0.1';
  expect(await agent.post(attempt)).toMatchObject(blocked);
  expect(good.requests).toHaveLength(1);
  expect(inner.connections.opened).toBe(0);
});

test.each([
  ['unknown', () => 'unknown'],
  ['that the name server fails on', () => 'failure'],
  ['without addresses', () => ({ addresses: [] })],
] satisfies [string, () => DnsAnswer][])('a name %s is a failure of DNS', async (_name, answer) => {
  const { resolve } = await startNames(answer);
  const agent = startAgent({ resolve });
  expect(await agent.post(attemptTo('http://hooks.example/'))).toMatchObject({
    responseStatus: null,
    error: 'dns',
  });
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('a silent name server fails before the attempt times out', async () => {
  const { resolve } = await startNames(() => 'silent');
  const agent = startAgent({ resolve });
  expect(await agent.post(attemptTo('http://hooks.example/'))).toMatchObject({ error: 'dns' });
});

test('50 names whose servers are silent do not hold up another name', async () => {
  const receiver = await startWebhookReceiver();
  const { resolve } = await startNames(({ name }) =>
    name.startsWith('silent') ? 'silent' : { addresses: ['127.0.0.1'] },
  );
  const agent = startAgent({ resolve });
  let given = 0;
  const silent = Array.from({ length: 50 }, async (_, index) => {
    await agent.post(attemptTo(`http://silent-${index}.example/`));
    given += 1;
  });
  expect(await agent.post(attemptTo(`http://hooks.example:${receiver.port}/`))).toMatchObject({
    error: null,
  });
  expect(given).toBe(0);
  await Promise.all(silent);
});

test('silence about IPv6 does not delay who has IPv4', async () => {
  const receiver = await startWebhookReceiver();
  const { resolve, questions } = await startNames(
    ({ type }) => (type === 'AAAA' ? 'silent' : { addresses: ['127.0.0.1'] }),
    { timeoutMs: 20_000 },
  );
  const result = await startAgent({ resolve }).post(attemptTo(`http://hooks.example:${receiver.port}/`));
  expect(result.error).toBeNull();
  // A question is repeated after 20 s; there is no repeat, so the answer came before.
  expect(questions.filter((question) => question.type === 'AAAA')).toHaveLength(1);
});

test('when the first address refuses, the next one is tried', async () => {
  const receiver = await startWebhookReceiver({ host: '127.0.0.2' });
  const { resolve } = await startNames(() => ({ addresses: ['127.0.0.3', '127.0.0.2'] }));
  const agent = startAgent({ resolve });
  expect(await agent.post(attemptTo(`http://hooks.example:${receiver.port}/`))).toMatchObject({
    error: null,
  });
});

test('deliveries come from the local address that was set', async () => {
  const receiver = await startWebhookReceiver();
  const { resolve } = await startNames(() => ({ addresses: ['127.0.0.1', '::1'] }));
  const allowed = parseNetworks(['127.0.0.0/8', '::1']);
  const agent = startAgent({ resolve, allowed, localAddress: '127.0.0.77' });
  expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ error: null });
  const named = attemptTo(`http://hooks.example:${receiver.port}/`);
  expect(await agent.post(named)).toMatchObject({ error: null });
  expect(receiver.requests.map((request) => request.from)).toEqual(['127.0.0.77', '127.0.0.77']);
  expect(await agent.post(attemptTo(`http://[::1]:${receiver.port}/`))).toMatchObject({
    error: 'connection',
  });
});

test('localhost needs no name server, and only one open family', async () => {
  const receiver = await startWebhookReceiver();
  const resolve = () => Promise.reject(new Error('asked'));
  for (const host of ['localhost', 'LOCALHOST.', 'hooks.localhost'])
    expect(await startAgent({ resolve }).post(attemptTo(`http://${host}:${receiver.port}/`))).toMatchObject({
      error: null,
    });
  expect(receiver.requests).toHaveLength(3);
});

test('attempts that connect together ask for a name once, and an answer is kept for its time, at most 30 s', async () => {
  const { resolve, questions } = await startNames(({ name }) => ({
    addresses: ['127.0.0.1'],
    ttl: name === 'brief.example' ? 5 : 3600,
  }));
  const asked = (name: string) => questions.filter((question) => question.name === name).length;
  await Promise.all(Array.from({ length: 100 }, () => resolve('long.example')));
  await resolve('LONG.example.');
  await resolve('brief.example');
  expect([asked('long.example'), asked('brief.example')]).toEqual([2, 2]);
  vi.useFakeTimers({ toFake: ['performance'] });
  // The cache takes a clock at 0 as not started.
  vi.advanceTimersByTime(1);
  try {
    await resolve('now.example');
    vi.advanceTimersByTime(6_000);
    await resolve('now.example');
    expect(asked('now.example')).toBe(2);
    vi.advanceTimersByTime(25_000);
    await resolve('now.example');
    expect(asked('now.example')).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

test('an answer that may not be kept is asked for again', async () => {
  const { resolve, questions } = await startNames(() => ({ addresses: ['127.0.0.1'], ttl: 0 }));
  await resolve('hooks.example');
  await resolve('hooks.example');
  expect(questions).toHaveLength(4);
});

// Shows A42
test('the hosts file comes before DNS, and its addresses are judged alike', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
  atEnd(() => rm(folder, { recursive: true }));
  const hostsFile = join(folder, 'hosts');
  await writeFile(
    hostsFile,
    '# development\n127.0.0.1 dev.example Api.Dev.Example # ours\n10.0.0.1\tinner.example\n',
  );
  const receiver = await startWebhookReceiver();
  const { resolve, questions } = await startNames(() => 'unknown', { hostsFile });
  const agent = startAgent({ resolve, allowed: loopback });
  for (const host of ['dev.example', 'api.dev.example'])
    expect(await agent.post(attemptTo(`http://${host}:${receiver.port}/`))).toMatchObject({ error: null });
  expect(await agent.post(attemptTo('http://inner.example/'))).toMatchObject(blocked);
  expect(questions).toEqual([]);
  expect(await agent.post(attemptTo('http://other.example/'))).toMatchObject({ error: 'dns' });
});

test('of a name with a thousand addresses some of each family are kept, once all of them were judged', async () => {
  const many = (prefix: string) => Array.from({ length: 1_000 }, (_, index) => `${prefix}${index % 250}`);
  const addresses = [...many('192.88.1.'), ...many('2606:4700::')];
  const { resolve } = await startNames(
    ({ name }) => ({
      addresses: name === 'mixed.example' ? [...addresses, '10.0.0.1'] : addresses,
      ttl: 30,
    }),
    { isForbidden: (address) => isForbiddenAddress(address, []) },
  );
  const [first, again] = [await resolve('hooks.example'), await resolve('hooks.example')];
  expect(again).toEqual(first);
  expect(first.filter((address) => address.includes('.'))).toHaveLength(16);
  expect(first.filter((address) => address.includes(':'))).toHaveLength(16);
  expect(await resolve('mixed.example')).toEqual(['10.0.0.1']);
  const agent = startAgent({ resolve, allowed: [] });
  expect(await agent.post(attemptTo('http://mixed.example/'))).toMatchObject(blocked);
});

async function startNames(
  answer: (question: DnsQuestion) => DnsAnswer,
  options: NameResolverOptions = {},
): Promise<NameResolver & { questions: DnsQuestion[] }> {
  const dns = await startDnsServer(answer);
  const names = createNameResolver({ servers: [dns.address], hostsFile: '/nonexistent/hosts', ...options });
  atEnd(names.close);
  return { ...names, questions: dns.questions };
}

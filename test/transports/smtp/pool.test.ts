import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createSmtpPool, type SmtpPool } from '../../../shared/transports/smtp/pool.ts';
import { parseRelayUrl } from '../../../shared/transports/smtp/relay.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { isPending, skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const pools: SmtpPool[] = [];

function poolTo(
  url: string,
  options: { connections?: number; timeoutMs?: number; idleMs?: number } = {},
): SmtpPool {
  const pool = createSmtpPool({ relay: parseRelayUrl(url), connections: 5, timeoutMs: 20_000, ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

const emailTo = (envelopeTo: string) => ({
  envelopeFrom: 'hello@acme.example',
  envelopeTo,
  message: Buffer.from(`From: hello@acme.example\r\nTo: ${envelopeTo}\r\n\r\nHello ${envelopeTo}\r\n`),
});
const numbered = (index: number) => emailTo(`user${index}@example.com`);
const idleIs = (pool: SmtpPool, count: number) =>
  waitFor(`${count} connections are idle`, () => pool.stats().idle === count);

test('200 emails at once go out over at most 20 connections, each email once and whole', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url, { connections: 20 });
  const emails = Array.from({ length: 200 }, (_, index) => numbered(index));
  const results = Promise.all(emails.map((email) => pool.handOver(email)));
  expect(pool.stats().waiting).toBe(180);
  expect(new Set((await results).map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  expect(sink.connectionCount()).toBe(20);
  const received = new Map(sink.messages.map((message) => [message.envelope.to[0], message.raw.toString()]));
  expect(sink.messages).toHaveLength(200);
  for (const email of emails) expect(received.get(email.envelopeTo)).toBe(email.message.toString());
  expect(pool.stats()).toEqual({ connections: 20, idle: 20, waiting: 0 });
});

test('a connection takes any number of emails, one after the other', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url);
  for (let index = 0; index < 150; index += 1) await pool.handOver(numbered(index));
  expect(sink.messages).toHaveLength(150);
  expect(sink.connectionCount()).toBe(1);
});

test('who waits longest for a connection is next', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url, { connections: 1 });
  await Promise.all(Array.from({ length: 30 }, (_, index) => pool.handOver(numbered(index))));
  expect(sink.messages.map(({ envelope }) => envelope.to[0])).toEqual(
    Array.from({ length: 30 }, (_, index) => `user${index}@example.com`),
  );
});

test('answers go to the email that they are about, refusals among them, over connections that are kept', async () => {
  const sink = await startSmtpSink();
  const modes = ['accept', '550 at RCPT', '451 after the dot', '450 at RCPT', '554 after the dot'] as const;
  const modeOf = (address: string) => modes[Number(/\d+/.exec(address)?.[0]) % modes.length] ?? 'accept';
  sink.setMode(modeOf);
  const pool = poolTo(sink.url, { connections: 4 });
  const emails = Array.from({ length: 100 }, (_, index) => numbered(index));
  const results = await Promise.all(emails.map((email) => pool.handOver(email)));
  expect(
    results.map((result) => (result.kind === 'refused' ? `${result.code} at ${result.stage}` : result.kind)),
  ).toEqual(
    emails.map(
      ({ envelopeTo }) =>
        ({
          accept: 'accepted',
          '550 at RCPT': '550 at rcpt',
          '450 at RCPT': '450 at rcpt',
          '451 after the dot': '451 at data',
          '554 after the dot': '554 at data',
        })[modeOf(envelopeTo)],
    ),
  );
  expect(sink.connectionCount()).toBe(4);
  await idleIs(pool, 4);
});

test('a connection that the relay closed while idle costs an email nothing', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url);
  await pool.handOver(numbered(1));
  sink.dropConnections();
  await waitFor('the pool knows', () => pool.stats().connections === 0);
  expect(await pool.handOver(numbered(2))).toMatchObject({ kind: 'accepted' });
  expect(sink.connectionCount()).toBe(2);
});

test.each(['drop at MAIL', '421 at MAIL'] as const)(
  'a used connection that does `%s` is replaced at once by a new one, because nothing was sent',
  async (mode) => {
    const sink = await startSmtpSink();
    const pool = poolTo(sink.url);
    await pool.handOver(numbered(1));
    sink.setMode(mode, { connection: 1 });
    expect(await pool.handOver(numbered(2))).toMatchObject({ kind: 'accepted' });
    expect(sink.messages.map(({ connection }) => connection)).toEqual([1, 2]);
  },
);

test('it is replaced once, not for ever', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url);
  await pool.handOver(numbered(1));
  sink.setMode('drop at MAIL');
  expect(await pool.handOver(numbered(2))).toMatchObject({ kind: 'transport_fault', reason: 'connection' });
  expect(sink.connectionCount()).toBe(2);
});

test('an email whose answer was lost on a used connection is uncertain, and not sent a second time', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url);
  await pool.handOver(numbered(1));
  sink.setMode('drop after the dot');
  expect(await pool.handOver(numbered(2))).toMatchObject({ kind: 'uncertain' });
  expect(sink.messages).toHaveLength(2);
  expect(sink.connectionCount()).toBe(1);
});

test('an email that waits for a free connection in vain is put off, without a fault of the relay', async () => {
  const sink = await startSmtpSink({ mode: 'hang after the dot' });
  const pool = poolTo(sink.url, { connections: 1, timeoutMs: 40_000 });
  const skip = skippableTimers();
  const results = Promise.all([pool.handOver(numbered(1)), pool.handOver(numbered(2))]);
  await sink.waitFor(1);
  skip(40_000);
  expect(await results).toEqual([
    { kind: 'uncertain', detail: 'no answer within 40 s' },
    { kind: 'busy', detail: expect.any(String) },
  ]);
  await pool.close();
  expect(sink.messages.map(({ envelope }) => envelope.to[0])).not.toContain('user2@example.com');
});

test('a relay that comes back is used again', async () => {
  const sink = await startSmtpSink();
  const line = await startTcpProxy(sink.url);
  const pool = poolTo(line.url);
  expect(await pool.handOver(numbered(1))).toMatchObject({ kind: 'accepted' });
  line.freeze();
  const skip = skippableTimers();
  const late = pool.handOver(numbered(2));
  expect(await isPending(late)).toBe(true);
  skip(20_000);
  expect(await late).toMatchObject({ kind: 'transport_fault', at: 'message', reason: 'timeout' });
  await line.pass();
  expect(await pool.handOver(numbered(3))).toMatchObject({ kind: 'accepted' });
  expect(sink.messages.map(({ envelope }) => envelope.to[0])).toEqual(
    expect.arrayContaining(['user1@example.com', 'user3@example.com']),
  );
});

// Shows F27
test('only an answer of the relay shows that the emails of a workspace are quick', async () => {
  const sink = await startSmtpSink();
  const line = await startTcpProxy(sink.url);
  const pool = poolTo(line.url, { connections: 1 });
  /** Hands an email over, and tells whether the next one may be claimed before it has a slot. */
  async function handOver(result: object): Promise<boolean> {
    expect(await pool.handOver({ ...numbered(1), owner: 'one' })).toMatchObject(result);
    const permit = async () => (await pool.permit({ lane: 'authentication', owner: 'one' }))!;
    // The only slot comes free a moment after the result, and this permit waits for it.
    (await permit()).leave();
    const { slot, leave } = await permit();
    leave();
    return slot === null;
  }
  line.refuse();
  expect(await handOver({ kind: 'transport_fault', at: 'session' })).toBe(false);
  await line.pass();
  for (const mode of ['drop at MAIL', 'drop after the dot', '421 at RCPT'] as const) {
    sink.setMode(mode);
    expect(await handOver({})).toBe(false);
  }
  sink.setMode('550 at RCPT');
  expect(await handOver({ kind: 'refused' })).toBe(true);
});

test('idle connections are closed after a while, with QUIT', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url, { idleMs: 300 });
  await Promise.all([1, 2, 3].map((index) => pool.handOver(numbered(index))));
  // On a busy machine the first one may be closed by now.
  expect(sink.connectionCount()).toBe(3);
  await waitFor(
    'no connection is left',
    () => pool.stats().connections === 0 && sink.openConnections() === 0,
  );
  expect(await pool.handOver(numbered(4))).toMatchObject({ kind: 'accepted' });
});

test('closing waits for what is under way and takes nothing new', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url, { connections: 2 });
  const underWay = Promise.all(Array.from({ length: 20 }, (_, index) => pool.handOver(numbered(index))));
  const closed = pool.close();
  expect(await pool.handOver(numbered(99))).toMatchObject({ kind: 'busy' });
  await closed;
  expect((await underWay).every(({ kind }) => kind === 'accepted')).toBe(true);
  expect(sink.messages).toHaveLength(20);
  expect(pool.stats()).toEqual({ connections: 0, idle: 0, waiting: 0 });
});

test.each([undefined, 'starttls'] as const)(
  'idle connections (%s) do not keep the process alive',
  async (tls) => {
    const sink = await startSmtpSink(tls ? { tls } : {});
    const folder = pathToFileURL(`${import.meta.dirname}/../../../shared/transports/smtp/`).href;
    const program = `
    import { createSmtpPool } from '${folder}pool.ts';
    import { parseRelayUrl } from '${folder}relay.ts';
    const pool = createSmtpPool({ relay: parseRelayUrl('${sink.url}'), connections: 5, timeoutMs: 20_000, idleMs: 3_600_000 });
    const email = { envelopeFrom: 'a@b.example', envelopeTo: 'ada@example.com', message: Buffer.from('X: y\\r\\n\\r\\nHello') };
    const results = await Promise.all([pool.handOver(email), pool.handOver(email)]);
    console.log(results.map(({ kind }) => kind).join(), pool.stats().idle);
  `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    clearTimeout(timer);
    expect({ output, code }).toEqual({ output: 'accepted,accepted 2\n', code: 0 });
  },
);

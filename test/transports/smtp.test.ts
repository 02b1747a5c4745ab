import { afterEach, expect, test } from 'vitest';
import type { HandOverResult } from '../../shared/transports/smtp/hand-over.ts';
import { createSmtpPool, type SmtpPool } from '../../shared/transports/smtp/pool.ts';
import { parseRelayUrl } from '../../shared/transports/smtp/relay.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type SmtpMode, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { isPending, skippableTimers } from '../support/time/skip-time.ts';
import { waitFor } from '../support/time/wait-for.ts';

const email = {
  envelopeFrom: 'hello@acme.example',
  envelopeTo: 'ada@example.com',
  message: Buffer.from('From: hello@acme.example\r\nSubject: Hi\r\n\r\n.\r\n..\r\n.dots\r\nHello\r\n'),
};
const pools: SmtpPool[] = [];

function poolTo(url: string, options: { connections?: number; timeoutMs?: number } = {}): SmtpPool {
  const pool = createSmtpPool({ relay: parseRelayUrl(url), connections: 5, timeoutMs: 20_000, ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

const refused = (stage: string, reply: string): Partial<HandOverResult> =>
  ({
    kind: 'refused',
    stage,
    code: Number(reply.slice(0, 3)),
    enhanced: reply.split(' ')[1],
    reply: expect.stringContaining(reply),
  }) as Partial<HandOverResult>;
const faultAt = (at: string, reason: string) =>
  ({ kind: 'transport_fault', at, reason, detail: expect.any(String) }) as const;
const fault = (reason: string) => faultAt('session', reason);
const uncertain = { kind: 'uncertain', detail: expect.any(String) };

test.each<[SmtpMode, object, number]>([
  ['accept', { kind: 'accepted', reply: '250 Taken' }, 1],
  ['accept, then reset', { kind: 'accepted', reply: '250 Taken' }, 1],
  ['450 at RCPT', refused('rcpt', '450 4.2.1'), 0],
  ['550 at RCPT', refused('rcpt', '550 5.1.1'), 0],
  ['550 5.7.1 at RCPT', refused('rcpt', '550 5.7.1'), 0],
  ['550 at MAIL, then closed', refused('mail', '550 5.7.1'), 0],
  ['550 at RCPT, then closed', refused('rcpt', '550 5.1.1'), 0],
  ['421 at MAIL', refused('mail', '421 4.3.2'), 0],
  ['421 at RCPT', refused('rcpt', '421 4.3.2'), 0],
  ['421 after the dot', refused('data', '421 4.3.2'), 1],
  ['451 after the dot', refused('data', '451 4.3.0'), 1],
  ['554 after the dot', refused('data', '554 5.6.0'), 1],
  ['refuses early', refused('data', '552 5.3.4'), 0],
  ['drop at MAIL', faultAt('message', 'connection'), 0],
  ['drop in the banner', fault('greeting'), 0],
  ['421 greeting', fault('greeting'), 0],
  ['STARTTLS fails', fault('tls'), 0],
  ['TLS handshake fails', fault('tls'), 0],
  ['drop after the dot', uncertain, 1],
])('a relay that does `%s` is understood', async (mode, expected, copies) => {
  const sink = await startSmtpSink({ mode });
  expect(await poolTo(sink.url).handOver(email)).toEqual(expected);
  expect(sink.messages).toHaveLength(copies);
});

test.each<[SmtpMode, object, number]>([
  ['hang in the banner', fault('timeout'), 0],
  ['one byte a second', fault('timeout'), 0],
  ['hang after the dot', uncertain, 1],
])('a relay that does `%s` is left at the deadline', async (mode, expected, copies) => {
  const sink = await startSmtpSink({ mode });
  const pool = poolTo(sink.url, { timeoutMs: 40_000 });
  const skip = skippableTimers();
  const result = pool.handOver(email);
  await waitFor('it has come to that', () => sink.openConnections() === 1 && sink.messages.length === copies);
  skip(10_000);
  expect(await isPending(result)).toBe(true);
  skip(30_000);
  expect(await result).toEqual(expected);
  expect(sink.messages).toHaveLength(copies);
  await waitFor('its connections to be gone', () => sink.openConnections() === 0);
  expect(pool.stats()).toEqual({ connections: 0, idle: 0, waiting: 0 });
});

// Shows F27
test('a relay that is not there, or has no name, is a fault of the transport', async () => {
  const sink = await startSmtpSink();
  await sink.close();
  expect(await poolTo(sink.url).handOver(email)).toEqual(fault('connection'));
  expect(await poolTo('smtp://relay.invalid').handOver(email)).toEqual(fault('dns'));
});

// The message is large, so a connection that is lost in its first pieces differs from one that is lost at the end.
const large = {
  ...email,
  message: Buffer.concat([email.message, Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(256_000))]),
};

test('a connection lost while the body goes out is a fault: the message was surely not taken', async () => {
  const sink = await startSmtpSink({ mode: 'drop in DATA' });
  expect(await poolTo(sink.url).handOver(large)).toEqual(faultAt('message', 'connection'));
  expect(sink.messages).toEqual([]);
});

test('a small message whose connection is lost in the body is uncertain: it may be the dot that was lost', async () => {
  const sink = await startSmtpSink({ mode: 'drop in DATA' });
  expect(await poolTo(sink.url).handOver(email)).toEqual(uncertain);
});

test('after a refusal in the middle of a body the connection is not used again', async () => {
  const sink = await startSmtpSink({ mode: 'refuses early' });
  const pool = poolTo(sink.url);
  expect(await pool.handOver(large)).toEqual(refused('data', '552 5.3.4'));
  expect(pool.stats()).toEqual({ connections: 0, idle: 0, waiting: 0 });
});

test('every byte of a message arrives, dots at line starts and 20 MB included', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url);
  for (const sent of [email, large]) expect(await pool.handOver(sent)).toMatchObject({ kind: 'accepted' });
  expect(
    sink.messages.map(({ raw }, index) => raw.equals([email, large][index]?.message ?? Buffer.of())),
  ).toEqual([true, true]);
  expect(sink.messages[0]?.envelope).toEqual({ from: 'hello@acme.example', to: ['ada@example.com'] });
});

test('a re-send has the same bytes', async () => {
  const sink = await startSmtpSink({ mode: 'drop after the dot' });
  const pool = poolTo(sink.url);
  expect(await pool.handOver(email)).toMatchObject({ kind: 'uncertain' });
  sink.setMode('accept');
  expect(await pool.handOver(email)).toMatchObject({ kind: 'accepted' });
  const [first, second] = sink.messages;
  expect(first?.raw.equals(second?.raw ?? Buffer.of())).toBe(true);
  expect(sink.messages.map(({ answer }) => answer)).toEqual([null, 250]);
});

test('a message over the limit of the relay is refused before it is sent', async () => {
  const sink = await startSmtpSink({ maxMessageBytes: 1000 });
  const pool = poolTo(sink.url, { connections: 1 });
  expect(await pool.handOver(large)).toEqual(refused('mail', '552 5.3.4'));
  expect(await pool.handOver(email)).toMatchObject({ kind: 'accepted' });
  expect(sink.connectionCount()).toBe(1);
});

test('a delivery status notification is asked for only when it is wanted', async () => {
  const sink = await startSmtpSink();
  const pool = poolTo(sink.url);
  await pool.handOver(email);
  await pool.handOver({ ...email, requestDsn: true });
  const [plain, asking] = sink.messages;
  expect(plain?.parameters).not.toHaveProperty('NOTIFY');
  expect(asking?.parameters).toMatchObject({
    RET: 'HDRS',
    NOTIFY: 'SUCCESS,FAILURE,DELAY',
    ORCPT: 'rfc822;ada@example.com',
  });
});

test.each([
  { envelopeTo: 'ada@example.com\r\nRCPT TO:<evil@x.example>' },
  { envelopeTo: 'ada@example.com> <evil@x.example' },
  { envelopeTo: 'ada@example.com,evil@x.example ' },
  { envelopeTo: '' },
  { envelopeFrom: 'a@b.example> SIZE=1' },
  { message: Buffer.of() },
])('an email that is no email (%j) is a mistake of ours and throws', async (changes) => {
  const sink = await startSmtpSink();
  await expect(poolTo(sink.url).handOver({ ...email, ...changes })).rejects.toThrow(TypeError);
  expect(sink.connectionCount()).toBe(0);
});

test('the relay of SMTP_URL gets the email, and closing leaves no connection', async () => {
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  const smtp = await import('../../shared/transports/smtp.ts');
  expect(smtp.smtpStats()).toEqual({ connections: 0, idle: 0, waiting: 0 });
  expect(await smtp.handOver(email)).toEqual({ kind: 'accepted', reply: '250 Taken' });
  expect(smtp.smtpStats()).toEqual({ connections: 1, idle: 1, waiting: 0 });
  await smtp.closeSmtp();
  expect(smtp.smtpStats()).toEqual({ connections: 0, idle: 0, waiting: 0 });
  await waitFor('its connections to be gone', () => sink.openConnections() === 0);
  expect(await smtp.handOver(email)).toMatchObject({ kind: 'accepted' });
  await smtp.closeSmtp();
});

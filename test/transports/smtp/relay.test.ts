import { afterEach, expect, test } from 'vitest';
import { createSmtpPool, type SmtpPool } from '../../../shared/transports/smtp/pool.ts';
import { detailOf, parseRelayUrl } from '../../../shared/transports/smtp/relay.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';

const pools: SmtpPool[] = [];
const email = {
  envelopeFrom: 'hello@acme.example',
  envelopeTo: 'ada@example.com',
  message: Buffer.from('From: hello@acme.example\r\n\r\nHello\r\n'),
};

function handOver(url: string) {
  const pool = createSmtpPool({ relay: parseRelayUrl(url), connections: 1, timeoutMs: 20_000 });
  pools.push(pool);
  return pool.handOver(email);
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

test.each([
  ['smtp://127.0.0.1', { host: '127.0.0.1', port: 25, tls: 'when_offered', login: null, name: undefined }],
  ['smtp://relay.example:2525', { host: 'relay.example', port: 2525, tls: 'when_offered', login: null }],
  ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
  ['smtps://relay.example', { port: 465, tls: 'implicit' }],
  ['smtp://relay.example?requireTLS=true', { port: 25, tls: 'required' }],
  ['smtp://relay.example?ignoreTLS=true', { tls: 'never' }],
  ['smtp://relay.example?name=mail.acme.example', { name: 'mail.acme.example' }],
  [
    'smtp://me:p%40ss%3A@relay.example',
    { port: 587, tls: 'required', login: { user: 'me', password: 'p@ss:' } },
  ],
  ['smtp://me:pass@relay.example?requireTLS=false', { tls: 'when_offered' }],
  ['smtp://me:pass@127.0.0.1', { tls: 'when_offered' }],
  ['smtp://me:pass@localhost', { tls: 'when_offered' }],
  ['smtp://me:pass@[::1]', { tls: 'when_offered' }],
  ['smtps://me:pass@relay.example', { port: 465, tls: 'implicit' }],
])('%s is understood', (url, relay) => {
  expect(parseRelayUrl(url)).toMatchObject(relay);
});

test.each([
  ['smtp://relay.example?requiretls=true', /unknown parameter requiretls/],
  ['smtp://relay.example?requireTLS=yes', /true or false/],
  ['smtp://relay.example?requireTLS=true&ignoreTLS=true', /exclude each other/],
  ['smtp://me@relay.example', /without a password/],
])('%s is refused', (url, message) => {
  expect(() => parseRelayUrl(url)).toThrow(message);
});

test('STARTTLS is used when it is offered, whatever the certificate', async () => {
  const sink = await startSmtpSink({ tls: 'starttls' });
  expect(await handOver(sink.url)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages[0]?.isEncrypted).toBe(true);
});

test('STARTTLS is left alone with ignoreTLS', async () => {
  const sink = await startSmtpSink({ tls: 'starttls' });
  expect(await handOver(`${sink.url}?ignoreTLS=true`)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages[0]?.isEncrypted).toBe(false);
});

test('without an offer of STARTTLS the email goes in the clear', async () => {
  const sink = await startSmtpSink();
  expect(await handOver(sink.url)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages[0]?.isEncrypted).toBe(false);
});

test('requireTLS wants the offer', async () => {
  const sink = await startSmtpSink();
  expect(await handOver(`${sink.url}?requireTLS=true`)).toMatchObject({
    kind: 'transport_fault',
    reason: 'tls',
  });
  expect(sink.messages).toEqual([]);
});

test('requireTLS and smtps want a certificate that can be trusted', async () => {
  const offering = await startSmtpSink({ tls: 'starttls' });
  const implicit = await startSmtpSink({ tls: 'implicit' });
  for (const url of [`${offering.url}?requireTLS=true`, implicit.url])
    expect(await handOver(url)).toMatchObject({ kind: 'transport_fault', reason: 'tls' });
  expect([...offering.messages, ...implicit.messages]).toEqual([]);
});

test('the login of the URL is used', async () => {
  const sink = await startSmtpSink({ login: { user: 'me', password: 'p@ss: /word' } });
  expect(await handOver(sink.url)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages[0]?.user).toBe('me');
});

test('a login that is refused, or not offered, is a fault of the transport, and its detail has no password', async () => {
  const refusing = await startSmtpSink({ login: { user: 'me', password: 'secret' }, mode: '535 at login' });
  const without = await startSmtpSink();
  const results = [await handOver(refusing.url), await handOver(without.url.replace('//', '//me:secret@'))];
  for (const result of results) {
    expect(result).toMatchObject({ kind: 'transport_fault', reason: 'login' });
    expect(JSON.stringify(result)).not.toContain('secret');
  }
  expect(results[0]).toMatchObject({ detail: expect.stringContaining('535 5.7.8 Bad credentials') });
  // The login was also not sent to a relay that did not ask for it.
  expect(results[1]).toMatchObject({ detail: expect.stringContaining('offers no AUTH') });
});

test('a relay that echoes the login does not get it into a detail', () => {
  const relay = parseRelayUrl('smtp://me:secret@relay.example');
  const encoded = Buffer.from('\0me\0secret').toString('base64');
  expect(
    detailOf(relay, `500 Unknown: AUTH PLAIN ${encoded}\n${Buffer.from('secret').toString('base64')} secret`),
  ).toBe('500 Unknown: AUTH PLAIN *** *** ***');
});

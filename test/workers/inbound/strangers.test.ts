import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { logger } from '../../../shared/common/logger.ts';
import { startInbound } from '../../../workers/inbound/server.ts';
import { workspace } from '../../support/data/factory.ts';
import { statusReport } from '../../support/data/mail-reports.ts';
import { emailIn } from '../../support/data/reported-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { type Certificate, selfSignedCertificate } from '../../support/servers/certificate.ts';
import { ownFolder } from '../../support/servers/own-servers.ts';
import { connectSmtp, sendMail } from '../../support/servers/smtp-client.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

async function start(options: Partial<Parameters<typeof startInbound>[0]> = {}) {
  const inbound = await startInbound({ port: 0, address: '127.0.0.1', ...options });
  atEnd(() => inbound.stop(0));
  return inbound;
}

async function greeted(port: number) {
  const client = await connectSmtp(port);
  expect(await client.reply()).toMatch(/^220 /);
  await client.say('EHLO stranger.example');
  return client;
}

function fileOf({ key, cert }: Certificate): string {
  const file = path.join(ownFolder('inbound-certificate'), 'both.pem');
  writeFileSync(file, cert + key, { mode: 0o600 });
  return file;
}

/** Replaces a file at once, as programs that renew certificates do: no reader sees half of the new one. */
function replace(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Watches the lines of a level, until the test ends. */
function watched(level: 'error' | 'warn') {
  const spy = vi.spyOn(logger, level);
  onTestFinished(() => spy.mockRestore());
  return spy;
}

/** Whether the server shows just this certificate, in a TLS handshake of a new connection. */
async function isAuthorized(port: number, { cert }: Certificate): Promise<boolean> {
  const client = await greeted(port);
  expect(await client.say('STARTTLS')).toMatch(/^220 /);
  client.socket.removeAllListeners('data');
  const secure = tls.connect({
    socket: client.socket,
    ca: cert,
    servername: 'bounce.example.org',
    rejectUnauthorized: false,
  });
  await once(secure, 'secureConnect');
  const shown = secure.getPeerX509Certificate()!;
  secure.destroy();
  return shown.fingerprint256 === new X509Certificate(cert).fingerprint256 && secure.authorized;
}

test('there is no login, and no TLS without a certificate of our own', async () => {
  const { port } = await start();
  const client = await greeted(port);
  expect(client.received()).not.toMatch(/AUTH|STARTTLS/);
  expect(await client.say('STARTTLS')).toMatch(/^5/);
  expect(await client.say('AUTH PLAIN AGEAYg==')).toMatch(/^5/);
});

test('with a certificate of our own there is TLS with it', async () => {
  const own = selfSignedCertificate(['bounce.example.org']);
  const { port } = await start({ tlsFile: fileOf(own) });
  expect(await isAuthorized(port, own)).toBe(true);
});

test('a renewed certificate is used without a restart, and one that cannot be used is not', async () => {
  const [first, second] = [
    selfSignedCertificate(['bounce.example.org']),
    selfSignedCertificate(['bounce.example.org']),
  ];
  const tlsFile = fileOf(first);
  const { port } = await start({ tlsFile, tlsEveryMs: 20 });
  const errors = watched('error');
  replace(tlsFile, second.cert + first.key);
  await waitFor('the file is refused', () => errors.mock.calls.length > 0);
  expect(await isAuthorized(port, first)).toBe(true);
  replace(tlsFile, second.cert + second.key);
  await waitFor('the new certificate is used', () => isAuthorized(port, second));
  expect(await isAuthorized(port, first)).toBe(false);
  // The fault of a file is logged once, however often the file is looked at.
  expect(errors.mock.calls.map(([, message]) => message)).toEqual([
    'the certificate cannot be read, so the one before stays',
  ]);
});

test('the end of a certificate is in the log 14 days before, and not earlier', async () => {
  const warnings = watched('warn');
  const inDays = (days: number) => new Date(now().getTime() + days * 86_400_000);
  await start({ tlsFile: fileOf(selfSignedCertificate(['bounce.example.org'], inDays(15))) });
  expect(warnings.mock.calls).toEqual([]);
  await start({ tlsFile: fileOf(selfSignedCertificate(['bounce.example.org'], inDays(13))) });
  expect(warnings.mock.calls.map(([, message]) => message)).toEqual([
    'the certificate ends soon, or has ended',
  ]);
});

test('who tries addresses is sent away', async () => {
  const { port } = await start();
  const client = await greeted(port);
  await client.say('MAIL FROM:<>');
  const answers: string[] = [];
  for (let index = 0; index < 6; index += 1)
    answers.push(await client.say(`RCPT TO:<user${index}@example.org>`));
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['550', '550', '550', '550', '550', '421']);
  await client.closed;
});

// Shows A60
test('a message has so many recipients, and the others are to come with another', async () => {
  const { port } = await start();
  const client = await greeted(port);
  await client.say('MAIL FROM:<>');
  for (let index = 0; index < 100; index += 1)
    expect(await client.say(`RCPT TO:<fbl@d${index}.example.org>`)).toMatch(/^250 /);
  expect(await client.say('RCPT TO:<fbl@another.example.org>')).toMatch(/^452 4\.5\.3 /);
  expect(await client.say('DATA')).toMatch(/^354 /);
  expect(await client.say('.')).toMatch(/^550 5\.6\.0 /);
});

// Shows A60
test('a connection has so many commands, whatever they are, and then it ends', async () => {
  const { port } = await start({ commandsPerConnection: 20 });
  for (const command of ['NOOP', 'RSET', 'RCPT TO:<fbl@example.org>', 'EHLO again.example']) {
    const client = await greeted(port);
    const answers: string[] = [];
    while (!answers.at(-1)?.startsWith('421')) answers.push(await client.say(command));
    expect([command, answers.length, answers.at(-1)]).toEqual([command, 20, '421 4.7.0 Too many commands']);
    await client.closed;
  }
  const client = await greeted(port);
  client.socket.write('NOOP\r\n'.repeat(10_000));
  await client.closed;
  expect(client.received().match(/^250 OK/gm)).toHaveLength(19);
});

// Shows A60
test('a command that is longer than any is not kept', async () => {
  const { port } = await start();
  const client = await greeted(port);
  client.socket.write(`MAIL FROM:<> ENVID=${'x'.repeat(3_000)}\r\n`);
  await client.closed;
  expect(client.received()).toContain('421 Error: Command line too long');
});

test('an address has so many connections, all together so many; when one ends another may come', async () => {
  for (const limits of [{ connectionsPerAddress: 2 }, { connections: 2 }]) {
    const { port } = await start(limits);
    const [first] = [await greeted(port), await greeted(port)];
    const third = await connectSmtp(port);
    expect(await third.reply()).toMatch(/^421 4\.7\.0 /);
    await third.closed;
    first.socket.destroy();
    await waitFor('there is room', async () => (await (await connectSmtp(port)).reply()).startsWith('220'));
  }
});

test('who is silent is cut off, and so is who stays too long with a word now and then', async () => {
  const silent = await start({ idleMs: 100 });
  const slow = await start({ lifetimeMs: 400 });
  const [quiet, dripping] = [await connectSmtp(silent.port), await connectSmtp(slow.port)];
  const drip = setInterval(() => dripping.socket.write('x'), 20);
  await Promise.all([quiet.closed, dripping.closed]);
  clearInterval(drip);
  expect(quiet.received()).toContain('421 Timeout');
});

test('a client that goes away before the dot changes nothing and harms nobody', async () => {
  const own = await workspace();
  const { port } = await start();
  const email = await emailIn('sent', own);
  const client = await greeted(port);
  await client.say('MAIL FROM:<>');
  await client.say(`RCPT TO:<${email.returnPath}>`);
  await client.say('DATA');
  client.socket.write(statusReport());
  client.socket.resetAndDestroy();
  await client.closed;
  expect((await sendMail(port, email.returnPath, Buffer.from('Subject: x\r\n\r\ny\r\n'))).at(-1)).toMatch(
    /^250/,
  );
  expect(await email.state()).toEqual(['sent', null]);
});

test('a stop lets a message in progress be answered, and closes the silent at once', async () => {
  changeSettings({ INBOUND_WAIT_SECONDS: 1 });
  const own = await workspace();
  const inbound = await start();
  const idle = await greeted(inbound.port);
  const queued = await emailIn('queued', own);
  const client = await greeted(inbound.port);
  await client.say('MAIL FROM:<>');
  await client.say(`RCPT TO:<${queued.returnPath}>`);
  await client.say('DATA');
  client.socket.write(Buffer.concat([statusReport(), Buffer.from('\r\n.\r\n')]));
  // The message waits for a worker, and none comes.
  await waitFor('it is in progress', () => inbound.inFlight() === 1);
  await inbound.stop(20_000);
  expect(await client.reply()).toMatch(/^451 /);
  await Promise.all([idle.closed, client.closed]);
});

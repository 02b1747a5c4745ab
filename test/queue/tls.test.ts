import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { closeProducer, producerConnection } from '../../shared/queue/connection.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { selfSignedCertificate } from '../support/servers/certificate.ts';

let caFile: string;
let url: string;
beforeAll(async () => {
  const { key, cert } = selfSignedCertificate(['localhost']);
  const folder = mkdtempSync(join(tmpdir(), 'redis-tls-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, cert);
  // The Redis of the tests, with TLS before it, as a host has it.
  const plain = new URL(config.REDIS_URL);
  const server = tls.createServer({ key, cert }, (socket) => {
    const redis = net.connect({ host: plain.hostname, port: Number(plain.port || 6379) });
    for (const one of [socket, redis]) one.on('error', () => undefined);
    socket.pipe(redis).pipe(socket);
    socket.once('close', () => redis.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = new URL(`rediss://localhost${plain.pathname}`);
  address.port = String((server.address() as net.AddressInfo).port);
  [address.username, address.password] = [plain.username, plain.password];
  url = address.href;
  atEnd(() => {
    closeProducer();
    server.close();
  });
});

async function answers(settings: Partial<typeof config>): Promise<string> {
  closeProducer();
  changeSettings({ REDIS_URL: url, ...settings });
  const connection = producerConnection();
  const failed = new Promise<string>((resolve) =>
    connection.once('error', ({ message }) => resolve(message)),
  );
  const ready = new Promise<string>((resolve) => connection.once('ready', () => resolve(connection.ping())));
  return Promise.race([failed, ready]);
}

test('a Redis with TLS is used where its certificate is good, or is said not to matter, and else it is not', async () => {
  expect(await answers({ REDIS_TLS_CA_FILE: caFile })).toBe('PONG');
  expect(await answers({ REDIS_TLS_CA_FILE: undefined, REDIS_TLS_VERIFY: false })).toBe('PONG');
  expect(await answers({ REDIS_TLS_VERIFY: true })).toMatch(/self.signed/i);
});

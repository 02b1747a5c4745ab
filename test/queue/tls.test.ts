// @slow: it starts processes or servers of its own.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { closeProducer, producerConnection } from '../../shared/queue/connection.ts';
import { findRedisFault } from '../../shared/queue/queue.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { type CertificateFiles, selfSignedCertificateFiles } from '../support/servers/certificate.ts';
import { startRedisCluster, startSentinels } from '../support/servers/redis-groups.ts';

let caFile: string;
let url: string;
beforeAll(async () => {
  const files = selfSignedCertificateFiles(['localhost']);
  caFile = files.cert;
  const [key, cert] = [files.key, files.cert].map((file) => readFileSync(file));
  // A TLS server in front of the Redis of the tests, as a hosting provider has it.
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

// Sentinels give the address of the primary; nodes of a Cluster give a host name.
test.each([
  ['Sentinels and the primary that they watch', '127.0.0.1', startSentinels],
  [
    'the nodes of a Redis Cluster',
    'localhost',
    (options: { certificate: CertificateFiles }) => startRedisCluster(config.QUEUE_PREFIX, options),
  ],
])('%s are reached with TLS, and not where their certificate is unknown', async (_name, host, start) => {
  const certificate = selfSignedCertificateFiles([host]);
  const group = await start({ certificate });
  // The ports that the group names accept only TLS.
  const settings = { REDIS_URL: group.url, REDIS_TLS_VERIFY: true };
  expect(await answers({ ...settings, REDIS_TLS_CA_FILE: certificate.cert })).toBe('PONG');
  expect(await findRedisFault()).toBeNull();
  closeProducer();
  changeSettings({ REDIS_TLS_CA_FILE: caFile });
  expect(await findRedisFault()).toBe('UNREACHABLE');
});

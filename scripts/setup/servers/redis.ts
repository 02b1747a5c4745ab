import fs from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { Program } from './programs.ts';
import { type Server, startServer } from './server.ts';

export async function startRedis(
  program: Program,
  folder: string,
  port: number,
  password: string,
  /** `isVolatile`: the data need not outlive the server. `clusterPort`: the port where the nodes of a cluster meet. */
  { isVolatile = false, clusterPort }: { isVolatile?: boolean; clusterPort?: number } = {},
): Promise<Server & { url: string }> {
  const data = path.join(folder, 'redis');
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  // A file, because everybody on the machine can read a command line.
  const settings = path.join(folder, 'redis.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(data)}`,
    `appendonly ${isVolatile ? 'no' : 'yes'}`,
    'save ""',
    'maxmemory-policy noeviction',
    // A delayed job may be late by one tick of this clock.
    'hz 100',
    ...(clusterPort === undefined ? [] : ['cluster-enabled yes', `cluster-port ${clusterPort}`]),
  ];
  fs.writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const server = await startServer({
    program,
    args: [settings],
    logFile: path.join(folder, 'redis.log'),
    answers: () => answers(url),
  });
  return { ...server, url };
}

async function answers(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2_000 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}

import fs from 'node:fs';
import path from 'node:path';
import { given } from '../environment.ts';
import * as kept from '../kept.ts';
import { initialData, startMysql } from './mysql.ts';
import { findMysql, findRedis, type Program } from './programs.ts';
import { startRedis } from './redis.ts';
import type { Server } from './server.ts';

export interface Services {
  mysqlUrl: string;
  redisUrl: string;
  stop(): Promise<void>;
  /** Rejects when a private server has ended and does not come back. */
  failure: Promise<never>;
}

interface Options {
  /** Data, logs, ports and passwords of the private servers; one run at a time may use it. */
  localDir: string;
  log: (text: string) => void;
  /** Throw away the data of former runs first. */
  fresh?: boolean;
  /** Where the data is, if not in localDir. */
  dataDir?: string;
  /** For tests: the data need not outlive the servers. */
  isVolatile?: boolean;
}

/**
 * Starts MySQL and Redis: uses the servers of MYSQL_URL and REDIS_URL, else private ones on free ports of loopback.
 * The caller holds the folder (session.hold), which also ends servers that survived a kill -9. Such servers are never
 * taken over but started again, so that their options and the process that ends them are certain.
 */
export async function startServices({
  localDir,
  log,
  fresh = false,
  dataDir = localDir,
  isVolatile = false,
}: Options): Promise<Services> {
  if (fresh)
    for (const data of ['mariadb', 'mysql', 'redis'])
      fs.rmSync(path.join(dataDir, data), { recursive: true, force: true });
  const secrets = kept.secrets(localDir);
  const running: Server[] = [];

  const startPrivate = async (
    service: 'mysql' | 'redis',
    find: typeof findMysql,
    start: (program: Program, port: number, password: string) => Promise<Server & { url: string }>,
  ): Promise<string> => {
    const startedAt = performance.now();
    const program = await find(log);
    const port = await kept.port(localDir, service);
    const server = await start(program, port, secrets[`${service}Password`]);
    running.push(server);
    log(`${program.kind} ${program.version}: on 127.0.0.1:${port} ${secondsSince(startedAt)}`);
    return server.url;
  };
  const mysql = async (program: Program, port: number, password: string) =>
    startMysql(program, dataDir, port, password, {
      isVolatile,
      ...(isVolatile && { copyOf: await initialData(program) }),
    });
  const redis = (program: Program, port: number, password: string) =>
    startRedis(program, dataDir, port, password, { isVolatile });
  if (given['MYSQL_URL']) log('MySQL: the one of MYSQL_URL');
  if (given['REDIS_URL']) log('Redis: the one of REDIS_URL');
  const [mysqlUrl, redisUrl] = await Promise.all([
    given['MYSQL_URL'] ?? startPrivate('mysql', findMysql, mysql),
    given['REDIS_URL'] ?? startPrivate('redis', findRedis, redis),
  ]);

  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()));
  };
  const failure = Promise.race(running.map((server) => server.failure));
  failure.catch(() => undefined);
  return { mysqlUrl, redisUrl, stop, failure };
}

const secondsSince = (startedAt: number) => `(${((performance.now() - startedAt) / 1000).toFixed(1)} s)`;

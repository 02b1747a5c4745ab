import fs from 'node:fs';
import path from 'node:path';
import { given } from './environment.ts';
import * as kept from './kept.ts';
import { startMysql } from './mysql.ts';
import * as processes from './processes.ts';
import { findMysql, findRedis } from './programs.ts';
import { startRedis } from './redis.ts';
import type { Server } from './server.ts';

export interface Services {
  mysqlUrl: string;
  redisUrl: string;
  stop(): Promise<void>;
}

interface Options {
  /** Data, logs, ports and passwords of the private servers; one run at a time may use it. */
  localDir: string;
  log: (text: string) => void;
  /** Throw away the data of former runs first. */
  fresh?: boolean;
}

/** What tells a server of this folder from any other process that has its number by now. */
interface Leftover {
  name: string;
  pid: number;
  mark: string;
}

/**
 * MySQL and Redis: those that MYSQL_URL and REDIS_URL name, else private ones on free ports of loopback. A server
 * that survived a kill -9 of its run (and of the guard) is ended and started again, never taken over: so there
 * is no doubt about its options, nor about who ends it.
 */
export async function startServices({ localDir, log, fresh = false }: Options): Promise<Services> {
  const file = path.join(localDir, 'servers.json');
  await endLeftovers(file, log);
  if (fresh)
    for (const data of ['mariadb', 'mysql', 'redis'])
      fs.rmSync(path.join(localDir, data), { recursive: true, force: true });
  const secrets = kept.secrets(localDir);
  const running: (Leftover & Server)[] = [];

  const startPrivate = async (
    service: 'mysql' | 'redis',
    find: typeof findMysql,
    start: typeof startMysql,
  ): Promise<string> => {
    const startedAt = performance.now();
    const program = await find(log);
    const port = await kept.port(localDir, service);
    const server = await start(program, localDir, port, secrets[`${service}Password`]);
    // MariaDB's command line names its data folder, Redis' its port.
    running.push({
      ...server,
      name: program.kind,
      mark: service === 'mysql' ? localDir + path.sep : `:${port}`,
    });
    kept.write(
      file,
      running.map(({ name, pid, mark }) => ({ name, pid, mark })),
    );
    log(`${program.kind} ${program.version}: on 127.0.0.1:${port} ${secondsSince(startedAt)}`);
    return server.url;
  };
  if (given['MYSQL_URL']) log('MySQL: the one of MYSQL_URL');
  if (given['REDIS_URL']) log('Redis: the one of REDIS_URL');
  const [mysqlUrl, redisUrl] = await Promise.all([
    given['MYSQL_URL'] ?? startPrivate('mysql', findMysql, startMysql),
    given['REDIS_URL'] ?? startPrivate('redis', findRedis, startRedis),
  ]);

  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()));
  };
  return { mysqlUrl, redisUrl, stop };
}

const secondsSince = (startedAt: number) => `(${((performance.now() - startedAt) / 1000).toFixed(1)} s)`;

async function endLeftovers(file: string, log: (text: string) => void): Promise<void> {
  for (const { name, pid, mark } of (kept.read(file) ?? []) as Leftover[]) {
    if (!(await processes.commandLine(pid)).includes(mark)) continue;
    log(`${name}: ending the one that a killed run left behind (process ${pid})`);
    await processes.end(pid, 60_000);
  }
  fs.rmSync(file, { force: true });
}

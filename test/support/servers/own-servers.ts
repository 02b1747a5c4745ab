import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { initialData, startMysql } from '../../../scripts/setup/servers/mysql.ts';
import { findMysql, findRedis, type Program } from '../../../scripts/setup/servers/programs.ts';
import { startRedis } from '../../../scripts/setup/servers/redis.ts';
import type { Server } from '../../../scripts/setup/servers/server.ts';
import { newDatabaseName } from '../database/database-name.ts';
import { freePort } from '../processes/free-port.ts';
import { atEnd } from '../runner/at-end.ts';

/** A server of one test file, whose tests may break it. It has its own folder and ends with the file. */
export type OwnServer = {
  url: string;
  /** Returns the id of the process that runs now. */
  pid: () => number;
  isRunning: () => boolean;
  /** SIGKILL; the server stays down until `start`. */
  kill: () => Promise<void>;
  /** SIGTERM, and waits for a clean end; the server stays down until `start`. */
  stop: () => Promise<void>;
  /** Starts the server again with its old data and port, and waits until it answers. */
  start: () => Promise<void>;
  /** SIGSTOP: the server hangs, with its connections open, until `thaw`. */
  freeze: () => void;
  thaw: () => void;
};

type Launch = {
  start: () => Promise<Server & { url: string }>;
  findPid: (url: string) => number | Promise<number>;
};

export async function run({ start, findPid }: Launch): Promise<OwnServer> {
  let server = await start();
  const { url } = server;
  let pid: number | undefined = await findPid(url);
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (pid !== undefined) process.kill(pid, name);
    } catch (error) {
      // The process has ended by itself, as a Galera node does that cannot continue.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const own: OwnServer = {
    url,
    pid: () => {
      if (pid === undefined) throw new Error('The server does not run');
      return pid;
    },
    isRunning: () => pid !== undefined,
    kill: async () => {
      if (pid === undefined) return;
      signal('SIGKILL');
      pid = undefined;
      // This runs in the same turn as the kill: otherwise startServer would start the server again.
      await server.stop();
    },
    stop: async () => {
      if (pid === undefined) return;
      pid = undefined;
      await server.stop();
    },
    start: async () => {
      if (pid !== undefined) return;
      server = await start();
      pid = await findPid(url);
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  };
  // The server's data is thrown away, so there is nothing to finish.
  atEnd(own.kill);
  return own;
}

export function ownFolder(name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`));
  atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const silent = (): void => undefined;

type OwnMysqlOptions = {
  diskBytes?: number;
  options?: string[];
  /** Lines of shell that are run before each start; they may set `more` to an option. */
  before?: string[];
  /** For a member of a group: another program, a folder that may hold data, a password and database that all share. */
  found?: Program;
  folder?: string;
  password?: string;
  database?: string;
};

/**
 * Starts a MySQL for this file alone. `url` names a database that does not exist yet. Give it to `changeSettings`
 * before `useDatabase`, which creates and drops the database, so the server must run when the file ends. `diskBytes`
 * limits the room for tables until `enlargeDisk`, which restarts the server. `options` are added to its command line.
 */
export async function startOwnMysql({
  diskBytes,
  options = [],
  before = [],
  found,
  folder = ownFolder('own-mysql'),
  password = randomBytes(18).toString('hex'),
  database = newDatabaseName('messaging'),
}: OwnMysqlOptions = {}) {
  // A server with a limited disk must make its own data, and so must a member of a group with a program of its own.
  const isPlain = diskBytes === undefined && before.length === 0 && found === undefined;
  found ??= await findMysql(silent);
  // In a shared TMPDIR, a server that starts would delete the temporary tables of the others.
  const env = { ...found.env, TMPDIR: folder };
  const program = withOptions({ ...found, env }, folder, { diskBytes, options, before });
  const copy = isPlain ? { copyOf: await initialData(found) } : {};
  const port = await freePort();
  const dataFolder = path.join(folder, program.kind.toLowerCase());
  const server = await run({
    start: async () => {
      const started = await startMysql(program, folder, port, password, copy);
      return { ...started, url: started.url.replace(/messaging$/, database) };
    },
    findPid: () => Number(fs.readFileSync(path.join(dataFolder, 'server.pid'), 'utf8')),
  });
  async function query(sql: string, values: unknown[] = []): Promise<any[]> {
    const url = new URL(server.url);
    url.pathname = '/';
    const connection = await mysql.createConnection({ uri: url.href, multipleStatements: true });
    try {
      const [rows] = await connection.query(sql, values);
      return rows as any[];
    } finally {
      await connection.end();
    }
  }
  const enlargeDisk = async () => {
    fs.writeFileSync(path.join(folder, 'larger-disk'), '');
    await server.kill();
    await server.start();
  };
  return { ...server, dataFolder, query, enlargeDisk };
}

/**
 * Returns the same program with more options, and room for `diskBytes` bytes of tables. When they are full, MySQL
 * refuses as on a full disk (1114). The limit is MySQL's own, because it would not survive one of the system. A file
 * `larger-disk` in the folder lifts the limit from the next start on.
 */
function withOptions(
  program: Program,
  folder: string,
  { diskBytes, options, before }: { diskBytes: number | undefined; options: string[]; before: string[] },
): Program {
  if (diskBytes === undefined && options.length + before.length === 0) return program;
  const [programs, base] = [path.dirname(program.command), path.dirname(path.dirname(program.command))];
  const ownBase = path.join(folder, 'program');
  const ownPrograms = path.join(ownBase, path.basename(programs));
  fs.rmSync(ownBase, { recursive: true, force: true });
  fs.mkdirSync(ownPrograms, { recursive: true });
  for (const name of fs.readdirSync(base))
    if (path.join(base, name) !== programs) fs.symlinkSync(path.join(base, name), path.join(ownBase, name));
  const command = path.join(ownPrograms, path.basename(program.command));
  const own = options.map((option) => ` '${option}'`).join('');
  const small = ' --innodb-file-per-table=OFF --innodb-data-file-path=ibdata1:12M:autoextend$limit';
  const lines = [
    '#!/bin/sh',
    `program='${program.command}' folder='${folder}' more=`,
    `[ -e "$folder/larger-disk" ] || limit=:max:${diskBytes}`,
    `set -- "$@"${own}`,
    ...before,
    `exec "$program" "$@" $more${diskBytes === undefined ? '' : small}`,
  ];
  fs.writeFileSync(command, `${lines.join('\n')}\n`, { mode: 0o700 });
  return { ...program, command };
}

export type OwnMysql = Awaited<ReturnType<typeof startOwnMysql>>;

/**
 * Creates a user with the rights that the platform and its migrations need, and no rights to administer the server.
 * Returns the URL for this user. `read_only` applies to such a user, as it does to the platform, but not to root.
 */
export async function ordinaryUser({ url, query }: Pick<OwnMysql, 'url' | 'query'>): Promise<string> {
  const ordinary = new URL(url);
  ordinary.username = `user_${randomBytes(6).toString('hex')}`;
  ordinary.password = randomBytes(18).toString('hex');
  const user = `'${ordinary.username}'@'127.0.0.1'`;
  await query(`CREATE USER ${user} IDENTIFIED BY '${ordinary.password}'`);
  await query(
    `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, LOCK TABLES ON *.* TO ${user}`,
  );
  return ordinary.href;
}

/**
 * Starts a Redis for this file alone, which writes all changes to disk (AOF). `options` are added to its command line.
 */
export async function startOwnRedis({
  options = [],
  password = randomBytes(18).toString('hex'),
}: {
  options?: string[];
  password?: string;
} = {}): Promise<OwnServer> {
  const folder = ownFolder('own-redis');
  const program = redisWith(await findRedis(silent), folder, options);
  const port = await freePort();
  return run({ start: () => startRedis(program, folder, port, password), findPid: redisPid });
}

function redisWith(program: Program, folder: string, options: string[]): Program {
  if (options.length === 0) return program;
  const command = path.join(folder, 'redis-server');
  const { argv0 = program.command } = program;
  const more = options.map((option) => ` '${option}'`).join('');
  const lines = ['#!/bin/bash', `exec -a '${argv0}' '${program.command}' "$@"${more}`];
  fs.writeFileSync(command, `${lines.join('\n')}\n`, { mode: 0o700 });
  return { ...program, command };
}

async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}

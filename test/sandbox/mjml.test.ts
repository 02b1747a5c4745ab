// @slow: each process that compiles MJML loads it anew.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { takeCounts } from '../../shared/common/metrics.ts';
import { openCompiled } from '../../shared/sandbox/compiled.ts';
import { compileRendered, compileTemplate, mjmlStats } from '../../shared/sandbox/mjml.ts';
import { startMjmlProcess } from '../../shared/sandbox/mjml-process.ts';
import { closeSandbox } from '../../shared/sandbox/sandbox.ts';
import { mjmlColumn, mjmlDocument, mjmlText } from '../support/data/mjml.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { mjmlBombs } from './mjml-bombs.ts';
import { openPatientPool } from './patient-pool.ts';

afterAll(closeSandbox);

/** MJML that only the time limit can end. */
const slow = mjmlBombs.find(({ name }) => name === 'siblings of siblings')!.source;

let made = 0;
/** Makes a source that was never compiled before. */
const fresh = (content = 'x') => mjmlText(`${content} ${(made += 1)}`);
const compiles = () => new Map(takeCounts()).get('mjml_compiles') ?? 0;

/** Returns the ids of the child processes of `parent` that compile MJML. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
        return isChild && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('mjml-child.ts');
      } catch {
        return false;
      }
    });
}
const isThere = (pid: number) => readdirSync('/proc').includes(String(pid));

test('nothing is started before the first MJML, and what is known needs nothing again', async () => {
  const source = fresh();
  await closeSandbox();
  expect(mjmlStats().threads).toBe(0);
  expect(await compileTemplate('w', source)).toMatchObject({ ok: true });
  expect(childrenOf(process.pid)).toHaveLength(1);
  await closeSandbox();
  expect(childrenOf(process.pid)).toEqual([]);
  expect(await compileTemplate('another', source)).toMatchObject({ ok: true });
  expect(mjmlStats().threads).toBe(0);
});

test('a process that compiles gives way to the one that asked for it', async () => {
  expect(await compileTemplate('w', fresh())).toMatchObject({ ok: true });
  const [child] = childrenOf(process.pid);
  expect(getPriority(child)).toBe(Math.min(getPriority() + 5, 19));
});

test('requests at once for one source compile it once, and each gets it', async () => {
  const source = fresh('{{ a }}');
  compiles();
  const results = await Promise.all(Array.from({ length: 20 }, () => compileTemplate('w', source)));
  expect(compiles()).toBe(1);
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  expect(results[0]).toMatchObject({ ok: true, html: expect.stringContaining('{{ a }}') });
});

test('the cache is bounded by the length of what it holds, and forgets what was not used for longest', () => {
  const compiled = openCompiled(1_000);
  compiled.set('a', { html: 'x'.repeat(300) });
  compiled.set('late', { html: null });
  compiled.set('b', { html: 'y'.repeat(300) });
  expect([compiled.get('a')?.html?.length, compiled.get('late')?.html]).toEqual([300, null]);
  compiled.set('c', { html: 'z'.repeat(100) });
  expect(['a', 'b', 'c', 'late'].map((key) => compiled.get(key) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ]);
  // An entry that is larger than the cache removes no other entry.
  compiled.set('huge', { html: 'h'.repeat(5_000) });
  expect(['a', 'c', 'late', 'huge'].map((key) => compiled.has(key))).toEqual([true, true, true, false]);
});

// Shows A26
test('each bomb ends in a clear error, and the next MJML is compiled', async () => {
  for (const { name, source, says } of mjmlBombs) {
    await compileTemplate('w', fresh());
    // A bomb that nothing stops would outlast the time-out of the test, or end the whole process.
    const result = await compileTemplate(`attacker ${name}`, source);
    expect([name, result]).toEqual([name, { ok: false, errors: expect.anything() }]);
    const messages = result.ok ? [] : (result.errors ?? []).map(({ message }) => message);
    expect(messages.join('; ')).toMatch(says);
  }
  expect(await compileTemplate('w', fresh())).toMatchObject({ ok: true });
});

test('while one workspace sends bombs without pause, another waits for one of them at most', async () => {
  const bomb = slow;
  let ended = 0;
  const attack = Array.from({ length: 5 }, async (_, index) => {
    await compileRendered('attacker', `${bomb}<!-- ${index} -->`).catch(() => {});
    ended += 1;
  });
  await waitFor('a bomb runs', () => mjmlStats().working > 0);
  expect(await compileTemplate('neighbour', fresh())).toMatchObject({ ok: true });
  expect(ended).toBeLessThanOrEqual(2);
  await closeSandbox();
  await Promise.all(attack);
});

test('a process that dies fails what it was at, and another takes its place', async () => {
  await compileTemplate('w', fresh());
  const [pid] = childrenOf(process.pid);
  const waiting = compileRendered('w', slow);
  await waitFor('it is at work', () => mjmlStats().working > 0);
  process.kill(pid!, 'SIGKILL');
  expect(await waiting).toEqual({ ok: false, errors: [{ message: 'could not be compiled' }] });
  expect(await compileTemplate('w', fresh())).toMatchObject({ ok: true });
});

test('one that runs out of memory fails, and the next is compiled', async () => {
  const pool = openPatientPool(0, (events) => startMjmlProcess(40, events));
  onTestFinished(() => pool.close());
  const run = (source: string) =>
    pool.run({ workspaceId: 'w', source, length: 1, message: { kind: 'mjml', source, isTemplate: false } });
  // The largest source that the limits let through.
  const attribute = `<mj-html-attribute name="a">${'x'.repeat(9_700)}</mj-html-attribute>`;
  const large = mjmlDocument(
    mjmlColumn(`<mj-raw>${'<i></i>'.repeat(2_450)}</mj-raw>`),
    `<mj-html-attributes><mj-selector path="i">${attribute}</mj-selector></mj-html-attributes>`,
  );
  expect(await run(large)).toEqual({ outcome: 'failed', faults: [{ part: 0, message: 'memory' }] });
  expect(await run(fresh())).toMatchObject({ outcome: 'done' });
});

// Shows A35
test('it has none of the server’s settings, and may read its program and the libraries and nothing else', async () => {
  await compileTemplate('w', fresh());
  const [pid] = childrenOf(process.pid);
  expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toMatch(/MYSQL_URL|SECRET_KEY|PATH/);
  const flags = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
  expect(flags).toContain('--permission');
  const product = join(import.meta.dirname, '../..');
  expect(flags.filter((flag) => flag.startsWith('--allow-'))).toEqual(
    ['shared/sandbox', 'shared/formats', 'node_modules'].map(
      (folder) => `--allow-fs-read=${product}/${folder}/*`,
    ),
  );
});

test('signals that stop the service do not stop a compilation: the process ends with the one it belongs to', async () => {
  await compileTemplate('w', fresh());
  const [pid] = childrenOf(process.pid);
  process.kill(pid!, 'SIGINT');
  process.kill(pid!, 'SIGTERM');
  expect(await compileTemplate('w', fresh())).toMatchObject({ ok: true });
  expect(childrenOf(process.pid)).toEqual([pid]);
});

const script = (end: string) => `
  import * as mjml from ${JSON.stringify(join(import.meta.dirname, '../../shared/sandbox/mjml.ts'))};
  const { ok } = await mjml.compileTemplate('w', ${JSON.stringify(mjmlText('x'))});
  console.log(ok);
  ${end}`;

test('an idle process keeps none alive, and a result that is owed does', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script('')], {
    timeout: 60_000,
  });
  expect(stdout).toBe('true\n');
});

test('it does not outlive the process that it belongs to, however that ends', async () => {
  const parent = spawn(
    process.execPath,
    ['--input-type=module', '-e', script('setInterval(() => {}, 1000);')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await once(parent.stdout, 'data');
  const [pid] = childrenOf(parent.pid!);
  expect(pid).toBeDefined();
  parent.kill('SIGKILL');
  await waitFor('it has ended', () => !isThere(pid!));
});

// @slow: hostile templates run until the sandbox stops them.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { takeCounts } from '../../shared/common/metrics.ts';
import * as sandbox from '../../shared/sandbox/sandbox.ts';
import { startThread } from '../../shared/sandbox/thread-handle.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { openPatientPool } from './patient-pool.ts';

afterAll(sandbox.closeSandbox);

const now = new Date('2026-11-20T10:00:00.123Z');
const request = (source: string, data: Record<string, unknown> = {}) => ({
  workspaceId: 'w',
  parts: [{ name: 'html', source, escape: true }],
  data,
  now,
});

test('each part is rendered in its own way, and plain parts come back as they are', async () => {
  const parts = [
    { name: 'html', source: '<b>{{ name }}</b>{{ name | raw }}', escape: true },
    { name: 'plain', source: '5 < 6 & {7}', escape: true },
    { name: 'subject', source: 'Hello {{ name }}', escape: false },
  ];
  expect(await sandbox.render({ ...request(''), parts, data: { name: '<Ada>' } })).toEqual({
    ok: true,
    outputs: ['<b>&lt;Ada&gt;</b><Ada>', '5 < 6 & {7}', 'Hello <Ada>'],
  });
});

test('every part with a mistake is named, with line and column', async () => {
  const parts = [
    { name: 'html', source: 'one\n  {{ name | foo }}', escape: true },
    { name: 'plain', source: 'nothing here', escape: false },
    { name: 'subject', source: '{% if a %}', escape: false },
    { name: 'text', source: 'fine {{ a }}', escape: false },
  ];
  expect(await sandbox.render({ ...request(''), parts })).toEqual({
    ok: false,
    errors: [
      { part: 'html', message: 'unknown filter: foo', line: 2, column: 3, parsing: true },
      { part: 'subject', message: 'tag {% if a %} not closed', line: 1, column: 1, parsing: true },
    ],
  });
});

test('the same request gives the same bytes again, whatever the time', async () => {
  const clock = request(
    "{{ 'now' | date: '%F %T %L' }} {{ 'today' | date_to_xmlschema }} {{ 'now' | date: '%s' }}",
  );
  const first = await sandbox.render(clock);
  expect(first).toEqual({ ok: true, outputs: ['%F %T 123 2026-11-20T10:00:00+00:00 1795168800'] });
  expect(await sandbox.render(clock)).toEqual(first);
});

test('a source of one workspace is never rendered with the data of another', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `name${index}`);
  const results = await Promise.all(
    names.map((name, index) =>
      sandbox.render({ ...request('{{ name }}', { name }), workspaceId: `w${index % 7}` }),
    ),
  );
  expect(results).toEqual(names.map((name) => ({ ok: true, outputs: [name] })));
});

/** A source whose data decides its time: a second or more in calls that cannot be interrupted, or almost none. */
const dataBomb = `{{ s | split: '' | sort_natural | size }}${"{% assign a = s | split: '' | sort_natural | sort_natural %}".repeat(20)}`;
const shuffled = Array.from({ length: 200_000 }, (_, index) =>
  String.fromCharCode(97 + ((index * 7919) % 26)),
).join('');

test('only the render that kills its thread fails: others of its batch are answered', async () => {
  const small = request(dataBomb, { s: 'ba' });
  for (let index = 0; index < 5; index += 1)
    expect(await sandbox.render(small)).toEqual({ ok: true, outputs: ['2'] });
  const requests = Array.from({ length: 12 }, (_, index) =>
    index === 6 ? request(dataBomb, { s: shuffled }) : request(dataBomb, { s: 'x'.repeat(index + 1) }),
  );
  const results = await Promise.all(requests.map((one) => sandbox.render(one)));
  const [bomb] = results.splice(6, 1);
  expect(bomb).toEqual({
    ok: false,
    errors: [expect.objectContaining({ part: 'html', message: 'takes longer than 100 ms to render' })],
  });
  expect(results).toEqual(
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12].map((n) => ({ ok: true, outputs: [String(n)] })),
  );
});

const hang = `{% for i in (1..100) %}{% cycle ${'"a",'.repeat(260_000)}%}{% endfor %}`;

test('threads start when they are needed: one more than are at work stands by, beside the full number only after a kill', async () => {
  await sandbox.closeSandbox();
  expect(sandbox.sandboxStats().threads).toBe(0);
  for (let index = 0; index < 20; index += 1) await sandbox.render(request('{{ a }}', { a: index }));
  await waitFor('a second thread', () => sandbox.sandboxStats().threads === 2);
  await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      sandbox.render({ ...request('{{ a }}', { a: index }), workspaceId: `w${index % 4}` }),
    ),
  );
  expect(sandbox.sandboxStats().threads).toBe(2);
  const two = () =>
    Promise.all(['one', 'other'].map((workspaceId) => sandbox.render({ ...request(hang), workspaceId })));
  await two();
  expect(sandbox.sandboxStats().killed).toBeGreaterThan(0);
  const again = two();
  await waitFor('a third thread', () => sandbox.sandboxStats().threads === 3);
  await again;
});

test('warmed up, it has a thread before the first render comes', async () => {
  await sandbox.closeSandbox();
  sandbox.warmUpSandbox();
  expect(sandbox.sandboxStats()).toMatchObject({ threads: 1, rendered: 0 });
  expect(await sandbox.render(request('{{ a }}', { a: 1 }))).toEqual({ ok: true, outputs: ['1'] });
});

test('a killed thread is replaced, and counted', async () => {
  const before = sandbox.sandboxStats().killed;
  takeCounts();
  expect(await sandbox.render(request(hang))).toMatchObject({ ok: false });
  const counts = new Map(takeCounts());
  expect(sandbox.sandboxStats().killed - before).toBe(counts.get('sandbox_kills{program="liquid"}'));
  expect(counts.get('sandbox_kills{program="liquid"}')).toBeGreaterThan(0);
  expect(counts.get('sandbox_jobs{program="liquid",outcome="failed"}')).toBe(1);
  expect(await sandbox.render(request('{{ a }}', { a: 1 }))).toEqual({ ok: true, outputs: ['1'] });
  await waitFor('one at work and one that stands by', () => sandbox.sandboxStats().threads === 2);
});

test('a thread that runs out of memory fails its render, and the next is rendered', async () => {
  const pool = openPatientPool(1, (events) => startThread('liquid', 16, events));
  onTestFinished(() => pool.close());
  const run = (source: string, data: unknown) =>
    pool.run({
      workspaceId: 'w',
      source,
      length: 1,
      message: { kind: 'liquid', parts: [{ source, escape: true }], data: JSON.stringify(data), now: 0 },
    });
  const arrays = Array.from({ length: 250_000 }, () => [0]);
  expect(await run('{{ a.size }}', { a: arrays })).toEqual({
    outcome: 'failed',
    faults: [{ part: 0, message: 'memory' }],
  });
  expect(await run('{{ a }}', { a: 1 })).toMatchObject({ outcome: 'done', outputs: ['1'] });
});

test('closing rejects what is under way, and the next render starts afresh', async () => {
  const waiting = sandbox.render(request(dataBomb, { s: shuffled }));
  const closing = sandbox.closeSandbox();
  await expect(waiting).rejects.toThrow('the sandbox is closed');
  await closing;
  expect(sandbox.sandboxStats().threads).toBe(0);
  expect(await sandbox.render(request('{{ a }}', { a: 1 }))).toEqual({ ok: true, outputs: ['1'] });
});

/** Runs `script` in a new process, which has to end by itself. */
async function inProcess(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const sandboxUrl = JSON.stringify(join(import.meta.dirname, '../../shared/sandbox/sandbox.ts'));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', `import * as sandbox from ${sandboxUrl};\n${script}`],
    { env: { ...process.env, ...env }, timeout: 30_000 },
  );
  return stdout;
}
const oneRender = (source: string) =>
  `await sandbox.render({ workspaceId: 'w', parts: [{ name: 'a', source: ${JSON.stringify(source)}, escape: false }], data: {}, now: new Date(1e12) })`;

test('idle threads keep no process alive, closed or not, and a render that is owed does', async () => {
  for (const end of ['', 'await sandbox.closeSandbox();'])
    expect(await inProcess(`await ${oneRender('{{ 1 }}')}; ${end} console.log('end');`)).toBe('end\n');
  const owed = `${oneRender('{{ 1 }}').slice('await '.length)}.then(({ outputs }) => console.log(outputs[0]));`;
  expect(await inProcess(owed)).toBe('1\n');
});

test('a source without Liquid starts no thread', async () => {
  const script = `const { ok } = ${oneRender('plain')}; console.log(ok, sandbox.sandboxStats().threads);`;
  expect(await inProcess(script)).toBe('true 0\n');
});

test('dates without a zone mean UTC, and names are English, wherever the host is', async () => {
  const source = "{{ '2026-03-08 02:30' | date: '%Y-%m-%d %H:%M %z %A' }} {{ 'now' | date: '%c' }}";
  const script = `console.log((${oneRender(source)}).outputs[0]);`;
  // On that day clocks in New York jumped forward, so that 02:30 became 03:30.
  expect(
    await inProcess(script, { TZ: 'America/New_York', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' }),
  ).toBe('2026-03-08 02:30 +0000 Sunday Sun Sep  9 01:46:40 2001\n');
});

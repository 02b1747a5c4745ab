import { afterAll, beforeEach, expect, test } from 'vitest';
import { type RowsRequest, renderRows } from '../../shared/sandbox/rows.ts';
import * as sandbox from '../../shared/sandbox/sandbox.ts';

afterAll(sandbox.closeSandbox);
// Each test has a new workspace, which the sandbox trusts again.
let workspaceId: string;
let tests = 0;
beforeEach(() => {
  workspaceId = `w${(tests += 1)}`;
});

const now = new Date('2026-11-20T10:00:00.123Z');
const rowsOf = (source: string, data: unknown[]): RowsRequest<string> => ({
  workspaceId,
  rows: data.map((values) => ({ source, data: JSON.stringify(values) })),
  shared: '{}',
  now,
  escape: false,
  withinMs: 60_000,
  resultOf: (output) => output,
});
const numbers = Array.from({ length: 500 }, (_, index) => index);
const done = (result: string) => ({ ok: true, result });
const jobsDone = () => sandbox.sandboxStats().rendered;

/** A source whose data decides its time: a second or more in calls that cannot be interrupted, or almost none. */
const dataBomb = `{{ s | split: '' | sort_natural | size }}${"{% assign a = s | split: '' | sort_natural | sort_natural %}".repeat(20)}`;
const shuffled = Array.from({ length: 200_000 }, (_, index) =>
  String.fromCharCode(97 + ((index * 7919) % 26)),
).join('');

test('500 rows cross together, and each has its own data before what all share', async () => {
  const request = rowsOf('{{ greeting }} {{ name }}', [
    ...numbers.map((n) => ({ name: `N${n}` })),
    { greeting: 'Bye' },
  ]);
  await sandbox.renderMany(request);
  const before = jobsDone();
  const results = await sandbox.renderMany({ ...request, shared: '{"greeting":"Hello","name":"you"}' });
  expect(results).toEqual([...numbers.map((n) => done(`Hello N${n}`)), done('Bye you')]);
  // 501 rows are two messages to a thread; a busy machine may need some more.
  expect(jobsDone() - before).toBeLessThan(50);
});

test('a row sees nothing of what the row before it has changed', async () => {
  const request = rowsOf('{% increment n %}{% assign name = "x" %}{{ list | push: "y" | join }}', [
    {},
    {},
    {},
  ]);
  expect(await sandbox.renderMany({ ...request, shared: '{"n":5,"list":["a"]}' })).toEqual([
    done('5a y'),
    done('5a y'),
    done('5a y'),
  ]);
});

test('rows with sources of their own cross together with the others', async () => {
  const rows = numbers.map((n) => ({ source: `{{ a }} ${n % 100}`, data: `{"a":${n}}` }));
  const results = await sandbox.renderMany({ ...rowsOf('', []), rows });
  expect(results).toEqual(numbers.map((n) => done(`${n} ${n % 100}`)));
});

test('rows without Liquid never enter the sandbox', async () => {
  await sandbox.closeSandbox();
  const plain = numbers.map((n) => ({ source: `plain ${n} {x}`, data: '{}' }));
  expect(await sandbox.renderMany({ ...rowsOf('', []), rows: plain })).toEqual(
    numbers.map((n) => done(`plain ${n} {x}`)),
  );
  expect(sandbox.sandboxStats()).toMatchObject({ threads: 0, rendered: 0 });
});

test('the same rows give the same bytes again, whatever the time', async () => {
  const request = rowsOf("{{ 'now' | date: '%L' }} {{ 'today' | date_to_xmlschema }}", [{}]);
  expect(await sandbox.renderMany(request)).toEqual([done('123 2026-11-20T10:00:00+00:00')]);
  expect(await sandbox.renderMany(request)).toEqual([done('123 2026-11-20T10:00:00+00:00')]);
});

// Shows A66
test.each([
  [
    'loops that answer',
    '{% for i in (1..n) %}{% for j in (1..n) %}{% endfor %}{% endfor %}{{ n }}',
    { n: 20_000 },
    { n: 1 },
    '1',
  ],
  ['a call that cannot be interrupted', dataBomb, { s: shuffled }, { s: 'ba' }, '2'],
])(
  'a row of %s fails by itself, and the other 499 are rendered',
  async (_name, source, bomb, harmless, output) => {
    const data = numbers.map((n) => (n === 250 ? bomb : harmless));
    const results = await sandbox.renderMany(rowsOf(source, data));
    const [failed] = results.splice(250, 1);
    expect(failed).toEqual({
      ok: false,
      errors: [expect.objectContaining({ part: 'source', message: 'takes longer than 100 ms to render' })],
    });
    expect(results).toEqual(Array.from({ length: 499 }, () => done(output)));
  },
);

test('hostile rows, one after the other, fail each by itself', async () => {
  const data = numbers.slice(0, 12).map((n) => (n % 3 === 0 ? { s: shuffled } : { s: 'ba' }));
  const results = await sandbox.renderMany(rowsOf(dataBomb, data));
  expect(results.map(({ ok }) => ok)).toEqual(data.map(({ s }) => s === 'ba'));
});

test('a source that cannot be read is told of each of its rows, with its place, and others are rendered', async () => {
  const rows = numbers.map((n) => ({
    source: n % 2 === 0 ? 'x\n {{ a | foo }}' : '{{ a }}',
    data: '{"a":1}',
  }));
  const results = await sandbox.renderMany({ ...rowsOf('', []), rows });
  const failure = {
    ok: false,
    errors: [{ part: 'source', message: 'unknown filter: foo', line: 2, column: 2, parsing: true }],
  };
  expect(results).toEqual(numbers.map((n) => (n % 2 === 0 ? failure : done('1'))));
});

test.each([
  ['more than 1 MiB with what all share', JSON.stringify({ a: 'x'.repeat(600_000) }), 'is larger than 1 MiB'],
  ['65 levels', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, 'is nested more than 64 levels'],
])('data of %s fails its row', async (_name, data, message) => {
  const rows = ['{"a":1}', data, '{"a":2}'].map((one) => ({ source: '{{ a }}', data: one }));
  const shared = JSON.stringify({ all: 'x'.repeat(600_000) });
  expect(await sandbox.renderMany({ ...rowsOf('', []), rows, shared })).toEqual([
    done('1'),
    { ok: false, errors: [{ part: 'data', message }] },
    done('2'),
  ]);
});

test('rows whose texts are large in all, or whose data is, cross in several times', async () => {
  const long = 'x'.repeat(100_000);
  const before = jobsDone();
  const texts = await sandbox.renderMany(
    rowsOf(
      '{{ a }}',
      numbers.slice(0, 50).map(() => ({ a: long })),
    ),
  );
  expect(texts).toEqual(Array.from({ length: 50 }, () => done(long)));
  expect(jobsDone() - before).toBeGreaterThanOrEqual(5);
});

test('what is not rendered in time is busy from there on, and never is nothing rendered', async () => {
  const slow = '{% for i in (1..5000) %}{{ n }}{% endfor %}';
  const request = {
    ...rowsOf(
      slow,
      numbers.map((n) => ({ n: n % 10 })),
    ),
    withinMs: 0,
  };
  const results = await sandbox.renderMany(request);
  const first = results.findIndex(({ ok }) => !ok);
  expect(first).toBeGreaterThan(0);
  expect(results.slice(first)).toEqual(
    Array.from({ length: 500 - first }, () => ({ ok: false, busy: true })),
  );
});

test('rows are busy where the sandbox is, those without Liquid apart', async () => {
  const rows = ['{{ a }}', 'plain'].map((source) => ({ source, data: '{}' }));
  expect(await renderRows(() => Promise.resolve({ outcome: 'busy' }), { ...rowsOf('', []), rows })).toEqual([
    { ok: false, busy: true },
    done('plain'),
  ]);
});

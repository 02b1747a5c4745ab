import { File } from 'node:buffer';
import { FormData, fetch } from 'undici';
import { castOf } from '../cast.ts';
import { type BatchContent, batchRowOf, batchSources } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import { openWindow } from '../usage.ts';

const rowsOfRequest = 10_000;
const requests = 5;
const rowsOfFile = 500_000;
const longestMs = 'longest answer ms';
const addedMb = 'web added by one MB';
const allAddedMb = 'web added by all MB';

type Request = { path: string; rows: number; body: () => { body: string | FormData; type?: string } };

/** One web process that has answered a small request, and then gets these, one after the other. */
async function open(
  bench: Bench,
  name: string,
  { count, request }: { count: number; request: Request },
): Promise<Opened> {
  const { world } = bench;
  const cast = castOf(bench, name);
  const loader = await cast.servant('loaders/platform');

  async function run(): Promise<Run> {
    await world.clear();
    const { key } = await loader.ask<Customer>('customer');
    const { web, port } = await cast.web();
    const post = async ({ path, rows, body }: Request): Promise<number> => {
      const { type, ...made } = body();
      const headers = { Authorization: `Bearer ${key}`, ...(type && { 'Content-Type': type }) };
      const since = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers,
        body: made.body,
      });
      const batch = (await answer.json()) as { counts?: { total: number } };
      checkEqual('status and rows of the answer', [answer.status, batch.counts?.total], [201, rows]);
      return performance.now() - since;
    };
    await post({ path: '/v2/sms/batches', rows: 1, body: batchOf('plain', 1) });
    const peak = () => openWindow({ web: web.pid })().usages['web']!.ownPeakMb;
    const rest = peak();
    const close = openWindow({ web: web.pid, bench: process.pid, ...world.servers });
    const took = [await post(request)];
    const first = peak();
    while (took.length < count) took.push(await post(request));
    const window = close();
    await web.stop();
    return {
      count: count * request.rows,
      window,
      figures: {
        [longestMs]: Math.max(...took),
        [addedMb]: first - rest,
        [allAddedMb]: window.usages['web']!.ownPeakMb - rest,
      },
      content: '',
    };
  }
  return {
    sides: [{ name: 'platform', title: `${count} of ${request.rows} rows, one web process`, run }],
    close: cast.stopAll,
  };
}

const batchOf = (content: BatchContent, count: number) => () => ({
  body: JSON.stringify({
    content: batchSources[content],
    messages: Array.from({ length: count }, (_, index) => batchRowOf(content, index)),
  }),
  type: 'application/json',
});

const fileOf = (count: number) => () => {
  const form = new FormData();
  form.set('settings', JSON.stringify({ content: 'Hello {{ name }}' }));
  const rows = Array.from(
    { length: count },
    (_, index) => `${batchRowOf('plain', index).recipient},Ada ${index}`,
  );
  form.set('file', new File([`number,name\n${rows.join('\n')}\n`], 'people.csv', { type: 'text/csv' }));
  return { body: form };
};

export const smsBatchRequests: Line = {
  name: 'sms-batch-requests',
  title: 'POST /v2/sms/batches of 10,000 rows, one after the other',
  unit: 'rows',
  targets: {},
  atMost: { [longestMs]: 1_500, [addedMb]: 60, [allAddedMb]: 60 },
  notes: [
    'The memory is what web takes at the most, beyond what it took after a batch of one row. V8 keeps garbage of one request for a while.',
  ],
  open: (bench) =>
    open(bench, 'sms-batch-requests', {
      count: requests,
      request: { path: '/v2/sms/batches', rows: rowsOfRequest, body: batchOf('liquid', rowsOfRequest) },
    }),
};

export const smsBatchImport: Line = {
  name: 'sms-batch-import',
  title: 'POST /v2/sms/batches/import of 500,000 rows',
  unit: 'rows',
  targets: {},
  atMost: { [addedMb]: 100 },
  notes: ['The memory is what web takes at the most, beyond what it took after a batch of one row.'],
  open: (bench) => {
    const rows = Math.round(rowsOfFile * bench.scale);
    return open(bench, 'sms-batch-import', {
      count: 1,
      request: { path: '/v2/sms/batches/import', rows, body: fileOf(rows) },
    });
  },
};

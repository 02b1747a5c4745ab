import type { Client, Schema } from 'messaging-service/client';
import { castOf } from '../cast.ts';
import { type BatchContent, batchRowOf, batchSources } from '../content.ts';
import { apiAt } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import { openWindow } from '../usage.ts';

const rowsOfRequest = 10_000;
const requests = 5;
const rowsOfFile = 500_000;
const longestMs = 'longest answer ms';
const addedMb = 'web added by one MB';
const allAddedMb = 'web added by all MB';

/** Makes what is to be sent, and then sends it. */
type Request = { rows: number; make: () => (api: Client) => Promise<Schema<'CreatedSmsBatch'>> };

/**
 * Opens sides that each start one web process, send it a small request, and then send it these requests one after the
 * other.
 */
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
    // Uses the client that customers have. Its cost for a single request is nothing beside ten thousand rows.
    const api = apiAt(port, key);
    const post = async ({ rows, make }: Request): Promise<number> => {
      const send = make();
      const since = performance.now();
      const { counts } = await send(api);
      const took = performance.now() - since;
      checkEqual('rows of the answer', counts.total, rows);
      return took;
    };
    await post({ rows: 1, make: batchOf('plain', 1) });
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

const batchOf = (content: BatchContent, count: number) => () => {
  const messages = Array.from({ length: count }, (_, index) => batchRowOf(content, index));
  return (api: Client) => api.post('/v2/sms/batches', { body: { content: batchSources[content], messages } });
};

const fileOf = (count: number) => () => {
  const form = new FormData();
  form.set('settings', JSON.stringify({ content: 'Hello {{ name }}' }));
  const rows = Array.from(
    { length: count },
    (_, index) => `${batchRowOf('plain', index).recipient},Ada ${index}`,
  );
  form.set('file', new File([`number,name\n${rows.join('\n')}\n`], 'people.csv', { type: 'text/csv' }));
  return (api: Client) => api.post('/v2/sms/batches/import', { body: form });
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
      request: { rows: rowsOfRequest, make: batchOf('liquid', rowsOfRequest) },
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
      request: { rows, make: fileOf(rows) },
    });
  },
};

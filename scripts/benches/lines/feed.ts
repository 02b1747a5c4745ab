import path from 'node:path';
import { castOf, numberOf } from '../cast.ts';
import { apiAt } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Reading } from '../players/feed-reader.ts';
import type { Program, Servant } from '../program.ts';
import { openWindow } from '../usage.ts';

const keptEvents = 1_000_000;
const rowsAtOnce = 10_000;
const readers = 4;
const pages = 10;
const measureMs = 4_000;

// As in real use, ids rise with the positions, near enough.
const risingId = "UNHEX(RPAD(LPAD(HEX(1900000000000 + position + ?), 12, '0'), 32, '7'))";

type Read = { events: number; ms: number; p50Ms: number; p99Ms: number };

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'feed');
  const loader = await cast.servant('loaders/platform');
  const reader = await cast.servant('players/feed-reader');
  const { key } = await loader.ask<Customer>('customer');
  const total = Math.max(20, Math.round((keptEvents * scale) / rowsAtOnce)) * rowsAtOnce;
  await world.clear();
  await loader.ask('prepareEvents', { count: rowsAtOnce, file: path.join(world.folder, 'feed.bodies') });
  await loader.ask('storeEvents', { first: 0, count: rowsAtOnce });
  await numberAndMultiply(total);
  // From the first pages, and from the last that there are.
  const starts = { first: 0, last: total - (pages + 1) * 1000 * readers };
  const content = String(await numberOf(database, 'SELECT MAX(position) FROM events'));
  checkEqual('events kept', content, String(total));

  /** Copies of the first rows, each with an id and a record of its own, in the order of their positions. */
  async function numberAndMultiply(count: number): Promise<void> {
    await database.query('SET @place = 0');
    await database.query('UPDATE events SET position = (@place := @place + 1) ORDER BY id');
    for (let done = rowsAtOnce; done < count; done += rowsAtOnce)
      await database.query(
        `INSERT INTO events (id, workspace_id, position, type, record_id, record_seq, occurred_at, data, request_id)
         SELECT ${risingId}, workspace_id, position + ?, type, ${risingId}, 1, occurred_at, data, request_id
         FROM events WHERE position <= ?`,
        [done, done, done, rowsAtOnce],
      );
    await database.query("UPDATE counters SET value = ? WHERE name = 'events.position'", [count]);
    await database.query(
      'INSERT INTO bare_feed (id, type, occurred_at, data) SELECT position, type, occurred_at, data FROM events',
    );
    await database.query('ANALYZE TABLE events, bare_feed');
  }

  async function run(web: Program, port: number, reading: Omit<Reading, 'url' | 'pages'>): Promise<Run> {
    const ask = (ms: number) =>
      reader.ask<Read>('read', {
        ...reading,
        url: `http://127.0.0.1:${port}/v2/events?limit=1000`,
        pages,
        ms,
      });
    await ask(1_500);
    const close = openWindow({ web: web.pid, reader: reader.pid, ...world.servers });
    const { events, ms, ...latency } = await ask(measureMs);
    const window = close();
    window.seconds = ms / 1000;
    return { count: events, window, latency, content };
  }

  const placesFrom = (start: number) =>
    Array.from({ length: readers }, (_, index) => start + index * pages * 1000);

  async function platform(start: number): Promise<Run> {
    const { web, port } = await cast.web();
    const cursors = await loader.ask<string[]>('feedCursors', placesFrom(start));
    // The readers only count events and do not parse a page, so one page is checked here.
    const page = await apiAt(port, key).get('/v2/events', { query: { limit: 1000, cursor: cursors[0]! } });
    checkEqual('different events on a page', new Set(page.data.map(({ id }) => id)).size, 1000);
    const result = await run(web, port, { cursors, headers: { Authorization: `Bearer ${key}` } });
    await web.stop();
    return result;
  }

  async function bare(start: number): Promise<Run> {
    const web: Servant = await cast.servant('bare/feed');
    const cursors = placesFrom(start).map(String);
    const result = await run(web, await web.ask<number>('port'), { cursors, headers: {} });
    await web.stop();
    return result;
  }

  return {
    sides: [
      { name: 'platform', title: `the last of ${total} events`, run: () => platform(starts.last) },
      { name: 'first', title: 'the first of them', run: () => platform(starts.first) },
      {
        name: 'bare',
        title: 'Express, SELECT by a range of the key, JSON; the last of them',
        run: () => bare(starts.last),
      },
    ],
    close: cast.stopAll,
  };
}

export const feed: Line = {
  name: 'feed',
  title: 'GET /v2/events, pages of 1,000, one web process',
  unit: 'events',
  targets: { bare: 0.6, first: 0.9 },
  notes: [`${readers} readers at once; --scale 10 keeps ten million events`],
  open,
};

import { castOf } from '../cast.ts';
import { eitherWord, newOfBatch, nineWords, sharedWords } from '../content.ts';
import type { Bench, Line, Opened, Run, Side } from '../line.ts';
import type { Book } from '../loaders/contacts.ts';
import type { Reading } from '../players/page-reader.ts';
import { openWindow } from '../usage.ts';

const manyContacts = 1_000_000;
const connections = 2;
const measureMs = 5_000;
const p99 = 'page p99 ms';

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'contact-search-hostile');
  const loader = await cast.servant('loaders/contacts');
  const reader = await cast.servant('players/page-reader');
  await world.clear();
  const count = Math.max(20_000, Math.round(manyContacts * scale));
  const { key } = await loader.ask<Book>('book', {
    batches: Math.round(count / newOfBatch),
    isHostile: true,
  });
  await world.database.query('ANALYZE TABLE contacts, contact_words');
  const { web, port } = await cast.web();

  async function pages(search: string): Promise<Run> {
    const query = new URLSearchParams({ limit: '50', search }).toString();
    const reading: Reading = {
      urls: [`http://127.0.0.1:${port}/v2/contacts?${query}`],
      headers: { Authorization: `Bearer ${key}` },
      connections,
      ms: measureMs,
      follows: true,
    };
    await reader.ask('read', { ...reading, ms: 1_000 });
    const close = openWindow({ web: web.pid, reader: reader.pid, ...world.servers });
    const read = await reader.ask<{ pages: number; ms: number; p50Ms: number; p99Ms: number }>(
      'read',
      reading,
    );
    const window = close();
    window.seconds = read.ms / 1000;
    return { count: read.pages, window, latency: read, figures: { [p99]: read.p99Ms }, content: '' };
  }

  const side = (name: string, what: string, search: string): Side => ({
    name,
    title: `${what}, page after page of ${count} contacts`,
    run: () => pages(search),
  });
  return {
    sides: [
      side('platform', 'ten words, of which no contact has all', `${sharedWords} ${eitherWord.join(' ')}`),
      side('nine', 'nine words that half of the contacts have', nineWords),
      side('two', 'two words that each half has, and nobody both', eitherWord.join(' ')),
      side('start', 'how most emails begin, and a word of all', 'person alpha'),
    ],
    close: cast.stopAll,
  };
}

export const contactSearchHostile: Line = {
  name: 'contact-search-hostile',
  title: 'GET /v2/contacts?search among contacts chosen to make it slow, one web process',
  unit: 'pages',
  targets: {},
  atMost: { [p99]: 150 },
  notes: [
    `${connections} readers at once. All contacts share eight words. Pages may be short, or empty, but each is soon there.`,
  ],
  open,
};

import type { Client } from 'messaging-service/client';
import { castOf } from '../cast.ts';
import { inboundToken, newOfBatch, nineWords } from '../content.ts';
import { apiAt } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';
import type { Book } from '../loaders/contacts.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Attack } from '../players/hostile-tenant.ts';
import type { Answers } from '../players/http-load.ts';
import type { Pace, Paced } from '../players/paced-sender.ts';
import { openWindow } from '../usage.ts';

const contactsOfAttacker = 20_000;
const listsAtMost = 40;
const measureMs = 10_000;
const pace = { everyMs: 25, largeEveryMs: 1_000, largeBytes: 1_500_000 };

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'hostile-neighbours');
  const [loader, books, hostile, sender] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/contacts'),
    cast.servant('players/hostile-tenant'),
    cast.servant('players/paced-sender'),
  ] as const);
  const { key } = await loader.ask<Customer>('customer');

  async function run(kind?: Attack['kind']): Promise<Run> {
    await world.clear();
    const batches = Math.round((contactsOfAttacker * scale) / newOfBatch);
    const book = await books.ask<Book>('book', { batches: Math.max(2, batches), isHostile: true });
    await world.database.query('ANALYZE TABLE contacts, contact_words');
    const { web, port } = await cast.web({ INBOUND_TOKEN: inboundToken });
    if (kind === 'lists') await addLists(apiAt(port, book.key));
    const paced: Pace = { port, key, ms: measureMs, ...pace };
    await sender.ask('send', { ...paced, ms: 2_000 });
    const close = openWindow({ web: web.pid, hostile: hostile.pid, sender: sender.pid, ...world.servers });
    if (kind) await hostile.ask('start', { kind, port, key: book.key } satisfies Attack);
    const sent = await sender.ask<Paced>('send', paced);
    const window = close();
    const answers = kind ? await hostile.ask<Answers>('stop') : {};
    process.stderr.write(`${kind ?? 'idle'}: the hostile tenant's answers: ${JSON.stringify(answers)}\n`);
    await web.stop();
    checkEqual('answers to the other tenant that are not 201', sent.refused, {});
    return {
      count: sent.count,
      window,
      latency: sent,
      figures: { 'large p50 ms': sent.largeP50Ms, 'large max ms': sent.largeMaxMs },
      content: '',
    };
  }

  const side = (name: string, title: string, kind?: Attack['kind']): Side => ({
    name,
    title,
    run: () => run(kind),
  });
  return {
    sides: [
      side('platform', 'alone'),
      side('search', 'another looks for nine words in its 20,000 contacts, 8 callers', 'search'),
      side('lists', 'another lists 40 dynamic lists, 4 callers', 'lists'),
      side('mjml', 'another sends large bodies with slow MJML, 50 callers', 'mjml'),
      side('keys', 'another sends 900,000 keys of template.data, 2 callers', 'keys'),
      side('trickle', 'another sends large bodies a byte at a time, 26 callers', 'trickle'),
      side('mail', 'somebody posts mails of 256 KB of unclosed tags as bounces, 8 callers', 'mail'),
      side('domains', 'another adds email domains, 150 callers', 'domains'),
    ],
    close: cast.stopAll,
  };
}

/** Adds as many dynamic lists as a workspace may have, each with the most expensive search. */
async function addLists(api: Client): Promise<void> {
  for (let list = 1; list <= listsAtMost; list += 1)
    await api.post('/v2/contact-lists', {
      body: { name: `List ${list}`, kind: 'dynamic', filter: { search: nineWords } },
    });
}

export const hostileNeighbours: Line = {
  name: 'hostile-neighbours',
  title: 'POST /v2/email beside another workspace whose requests cost the most CPU time',
  unit: 'emails',
  targets: {},
  comparedBy: 'p50',
  notes: [
    `A small email every ${pace.everyMs} ms, of which p50 and p99 are, and one with an attachment of 1.5 MB a second. No limits of rate.`,
  ],
  open,
};

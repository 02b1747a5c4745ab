import { setTimeout as delay } from 'node:timers/promises';
import type mysql from 'mysql2/promise';
import { type Cast, castOf, numberOf } from '../cast.ts';
import { type EmailRequest, liquidEmail, plainEmail } from '../content.ts';
import { type Bench, checkEqual, type Line, Mismatch, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Answers, Load, Measured } from '../players/http-load.ts';
import type { Proof } from '../players/proof.ts';
import type { Program, Servant } from '../program.ts';
import { openWindow } from '../usage.ts';

const connections = 64;
const variants = 64;
const warmMs = 2_000;
const measureMs = 4_000;

/** The queue and the tables where a side keeps accepted emails. */
interface Stored {
  queue: string;
  emails: string;
  bodies: string;
  events: string;
}
const stores = {
  platform: { queue: 'send-email', emails: 'emails', bodies: 'email_bodies', events: 'events' },
  bare: { queue: 'accepted', emails: 'bare_emails', bodies: 'bare_email_bodies', events: 'bare_events' },
} satisfies Record<string, Stored>;

/** The key and the proof that the requests of one side carry. */
export interface Caller {
  name: string;
  title: string;
  key: string;
  proof?: Omit<Proof, 'signing'> & { signing?: Omit<NonNullable<Proof['signing']>, 'authority'> };
}

type Asked = {
  name: string;
  email: (index: number) => EmailRequest;
  /** The sides of the platform, the measured one first. */
  callers: (loader: Servant, cast: Cast) => Promise<Caller[]>;
};

export async function openAccept(bench: Bench, { name, email, callers }: Asked): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, name);
  const loader = await cast.servant('loaders/platform');
  const load = await cast.servant('players/http-load');
  const bodies = Array.from({ length: variants }, (_, index) => JSON.stringify(email(index)));

  async function run(web: Program, port: number, stored: Stored, caller?: Caller): Promise<Run> {
    const headers: Record<string, string> = caller ? { Authorization: `Bearer ${caller.key}` } : {};
    const signing = caller?.proof?.signing;
    const proof = caller?.proof && {
      idempotent: caller.proof.idempotent,
      ...(signing && { signing: { ...signing, authority: `127.0.0.1:${port}` } }),
    };
    await load.ask('start', {
      ports: [port],
      path: '/v2/email',
      headers,
      bodies,
      connections,
      ...(proof && { proof }),
    } satisfies Load);
    await load.ask('measure', warmMs * scale);
    const close = openWindow({ web: web.pid, load: load.pid, bench: process.pid, ...world.servers });
    const measured = await load.ask<Measured>('measure', measureMs * scale);
    const window = close();
    const answers = await load.ask<Answers>('stop');
    const content = await check(world.database, stored, answers);
    await checkJobs(answers['201'] ?? 0, () => world.jobs(stored.queue));
    window.seconds = measured.ms / 1000;
    return { count: measured.count, window, latency: measured, content };
  }

  async function platform(caller: Caller): Promise<Run> {
    await world.clear();
    const { web, port } = await cast.web({
      // Each request makes a job, as on the other side. With the default limit, one customer alone would soon have no
      // room for more jobs.
      EMAIL_JOBS_PER_WORKSPACE: '1000000',
    });
    const result = await run(web, port, stores.platform, caller);
    await web.stop();
    return result;
  }

  async function bare(): Promise<Run> {
    await world.clear();
    const web: Servant = await cast.servant('bare/accept');
    const result = await run(web, await web.ask<number>('port'), stores.bare);
    await web.stop();
    return result;
  }

  return {
    sides: [
      ...(await callers(loader, cast)).map((caller) => ({
        name: caller.name,
        title: caller.title,
        run: () => platform(caller),
      })),
      { name: 'bare', title: 'Express, prepared transaction of three inserts, one add()', run: bare },
    ],
    close: cast.stopAll,
  };
}

/**
 * Checks the jobs of the accepted emails. A wake-up follows the answer and is best effort (a sweep makes missing
 * jobs), so a slow machine may lose a few. Many lost ones would mean that the rate was reached at their cost.
 */
async function checkJobs(accepted: number, count: () => Promise<number>): Promise<void> {
  let jobs = await count();
  for (let before = -1; jobs < accepted && jobs > before; jobs = await count()) {
    before = jobs;
    await delay(2_000);
  }
  if (jobs > accepted || jobs < accepted * 0.99) throw new Mismatch(`${jobs} jobs for ${accepted} emails`);
}

/**
 * Checks that every answer is a 201 and has its three rows. Returns the stored content, one line for each different
 * email.
 */
async function check(database: mysql.Connection, stored: Stored, answers: Answers): Promise<string> {
  const accepted = answers['201'] ?? 0;
  checkEqual('answers', answers, { '201': accepted });
  for (const table of [stored.emails, stored.bodies, stored.events])
    checkEqual(`rows in ${table}`, await numberOf(database, `SELECT COUNT(*) FROM ${table}`), accepted);
  const [rows] = await database.query<mysql.RowDataPacket[]>(
    `SELECT DISTINCT recipient, sender, subject, SHA1(html) AS html, SHA1(text) AS text FROM ${stored.emails}
     JOIN ${stored.bodies} ON email_id = id ORDER BY recipient`,
  );
  checkEqual('different emails', rows.length, variants);
  return JSON.stringify(rows);
}

/** One customer, who proves nothing beyond the key. */
async function plainCaller(loader: Servant): Promise<Caller[]> {
  const { key } = await loader.ask<Customer>('customer');
  return [{ name: 'platform', title: 'one web process', key }];
}

export const notes = [
  `${connections} kept connections, no workers running; the log of requests goes to a file, as it does in service`,
];

export const accept: Line = {
  name: 'accept',
  title: 'POST /v2/email answered after COMMIT, 600 bytes of JSON',
  unit: 'requests',
  targets: { bare: 0.8 },
  notes,
  open: (bench) => openAccept(bench, { name: 'accept', email: plainEmail, callers: plainCaller }),
};

export const acceptLiquid: Line = {
  name: 'accept-liquid',
  title: 'POST /v2/email answered after COMMIT, html of 2 kB with Liquid',
  unit: 'requests',
  targets: {},
  notes: [...notes, 'The platform renders in threads that it can kill; the bare side in its own process'],
  open: (bench) => openAccept(bench, { name: 'accept-liquid', email: liquidEmail, callers: plainCaller }),
};

import { createHash } from 'node:crypto';
import type mysql from 'mysql2/promise';
import { batches, sendBatches, senders, warmBatches } from '../batches.ts';
import { castOf } from '../cast.ts';
import { rowsOfBatch } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Sending } from '../players/batch-sender.ts';
import type { Program, Servant } from '../program.ts';

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'contacts');
  const loader = await cast.servant('loaders/platform');
  const sender = await cast.servant('players/batch-sender');
  const { key } = await loader.ask<Customer>('customer');
  const [count, warm] = [batches, warmBatches].map((full) => Math.max(1, Math.round(full * scale))) as [
    number,
    number,
  ];

  async function run(web: Program, to: Pick<Sending, 'port' | 'headers'>, stored: string): Promise<Run> {
    const sent = await sendBatches(world, { web, sender }, { ...to, first: 0, count, warm });
    return { ...sent, content: await contentOf(world.database, stored) };
  }

  async function platform(): Promise<Run> {
    await world.clear();
    const { web, port } = await cast.web();
    const result = await run(web, { port, headers: { Authorization: `Bearer ${key}` } }, 'contacts');
    await web.stop();
    return result;
  }

  async function bare(): Promise<Run> {
    await world.clear();
    const web: Servant = await cast.servant('bare/contacts');
    const result = await run(web, { port: await web.ask<number>('port'), headers: {} }, 'bare_contacts');
    await web.stop();
    return result;
  }

  /** The stored contacts, in short, once every contact that was sent is found there. */
  async function contentOf(database: mysql.Connection, name: string): Promise<string> {
    const [rows] = await database.query<mysql.RowDataPacket[]>(
      `SELECT CAST(number AS CHAR) AS number, country, first_name, last_name, company, email, client_reference
       FROM ${name} ORDER BY number`,
    );
    const known = (warm + count + 1) * (rowsOfBatch / 2);
    checkEqual(`rows in ${name}`, rows.length, senders * known);
    return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  }

  return {
    sides: [
      { name: 'platform', title: 'one web process', run: platform },
      { name: 'bare', title: "Express, libphonenumber's parse, one multi-row upsert", run: bare },
    ],
    close: cast.stopAll,
  };
}

export const contacts: Line = {
  name: 'contacts',
  title: 'POST /v2/contacts/batch, 1,000 rows, half of them known and changed',
  unit: 'contacts',
  targets: { bare: 0.7 },
  notes: [`${senders} senders at once; the platform also keeps what search, tags and counts need`],
  open,
};

import { idToBytes } from '../../../shared/formats/ids.ts';
import { batches, sendBatches, senders, warmBatches } from '../batches.ts';
import { castOf, numberOf } from '../cast.ts';
import { newOfBatch } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Book } from '../loaders/contacts.ts';

const manyContacts = 1_000_000;
const fewContacts = 10_000;
/** Contacts of other workspaces for each one of the large book. */
const othersPerContact = 1;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'contacts-rows');
  const loader = await cast.servant('loaders/contacts');
  const sender = await cast.servant('players/batch-sender');
  await world.clear();
  const bookOf = (contacts: number) => loader.ask<Book>('book', { batches: contacts / newOfBatch });
  const manyBatches = Math.max(2 * fewContacts, Math.round(manyContacts * scale)) / newOfBatch;
  const large = await bookOf(manyBatches * newOfBatch);
  await loader.ask('copies', { workspaceId: large.workspaceId, times: othersPerContact });
  await world.database.query('ANALYZE TABLE contacts, contact_words');

  /** Batches of new and known contacts for the book, from the one with this number on. */
  async function run({ key, workspaceId }: Book, first: number): Promise<Run> {
    const { web, port } = await cast.web();
    const sql = 'SELECT COUNT(*) FROM contacts WHERE workspace_id = ?';
    const stored = () => numberOf(world.database, sql, [idToBytes(workspaceId)]);
    let before = 0;
    const to = { port, headers: { Authorization: `Bearer ${key}` }, first, count: batches };
    const sent = await sendBatches(world, { web, sender }, to, async () => {
      before = await stored();
    });
    checkEqual('new contacts', (await stored()) - before, senders * batches * newOfBatch);
    await web.stop();
    return { ...sent, content: '' };
  }

  let next = manyBatches;
  return {
    sides: [
      {
        name: 'platform',
        title: `into ${manyBatches * newOfBatch} contacts, beside ${othersPerContact} times as many of others`,
        run: async () => {
          const first = next;
          next += warmBatches + batches;
          return run(large, first);
        },
      },
      {
        name: 'few',
        title: `into ${fewContacts}`,
        run: async () => run(await bookOf(fewContacts), fewContacts / newOfBatch),
      },
    ],
    close: cast.stopAll,
  };
}

export const contactsRows: Line = {
  name: 'contacts-rows',
  title: 'POST /v2/contacts/batch, by the number of existing contacts',
  unit: 'contacts',
  targets: { few: 0.8 },
  notes: [`${senders} senders at once. Filling takes minutes: --scale 0.1 for a look.`],
  open,
};

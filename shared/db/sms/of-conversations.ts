import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { keyOfAddress } from '../../formats/sms/sender-name.ts';
import type { Pair } from '../../formats/text-pair.ts';
import type { Page } from '../client/listing.ts';
import { listRowsByIds } from '../client/rows.ts';
import { execute } from '../client.ts';
import { listSmsOfAny, type SmsChoice, type SmsListed, type SmsRowFilter } from './listings.ts';
import { type SmsRecord, sms } from './messages.ts';

/** The texts of a conversation, found by the number at the other end, through two indexes that exist for other uses. */

type Arm = { direction: 'inbound' | 'outbound'; theirs: string; index: string; own: string };
// Upper and lower case do not matter in the name of a sender.
const folded = (column: string) => `LOWER(CONVERT(${column} USING utf8mb4))`;
const arms: Arm[] = [
  { direction: 'inbound', theirs: 'sender', index: 'sms_by_sender', own: folded('recipient') },
  { direction: 'outbound', theirs: 'recipient', index: 'sms_by_recipient', own: folded('sender') },
];

/**
 * Waits until every text to this number, from the id `since` on, that is being stored is committed or rolled back. No
 * transaction that stores one of them waits for us: all code that writes outcomes of texts locks them in the order of
 * their ids, as this statement does.
 */
export async function waitForSmsTo(workspaceId: string, number: string, since: Buffer): Promise<void> {
  await execute(
    `SELECT COUNT(id) FROM sms_messages FORCE INDEX (sms_by_recipient)
     WHERE workspace_id = ? AND recipient = ? AND id >= ? FOR UPDATE`,
    [idToBytes(workspaceId), Buffer.from(number), since],
  );
}

/** Returns the texts with these ids that the workspace has, newest first. */
export function listSmsByIds(workspaceId: string, ids: string[]): Promise<SmsRecord[]> {
  return listRowsByIds(workspaceId, sms, ids);
}

export type PairTotal = { texts: number; lastAt: Date | null; lastId: string | null };

/** A range of ids: `from` is included, `to` is not. A missing bound means no limit. */
type IdRange = { from?: Buffer; to?: Buffer };

/** Counts the texts of the pair in each direction: all texts, or those with ids in a range. */
export async function findPairTotals(
  workspaceId: string,
  { number, sender }: Pair,
  { from = Buffer.alloc(16), to = Buffer.alloc(16, 0xff) }: IdRange = {},
): Promise<Record<Arm['direction'], PairTotal>> {
  const totals: [Arm['direction'], PairTotal][] = [];
  for (const { direction, theirs, index, own } of arms) {
    const [row] = await execute<{ texts: number; last_at: Date | null; last_id: Buffer | null }[]>(
      `SELECT COUNT(*) AS texts, MAX(created_at) AS last_at, MAX(id) AS last_id
       FROM sms_messages FORCE INDEX (${index})
       WHERE workspace_id = ? AND ${theirs} = ? AND id >= ? AND id < ? AND direction = '${direction}' AND ${own} = ?`,
      [idToBytes(workspaceId), Buffer.from(number), from, to, keyOfAddress(sender)],
    );
    const { texts, last_at: lastAt, last_id: lastId } = row!;
    totals.push([direction, { texts, lastAt, lastId: lastId && idFromBytes('sms', lastId) }]);
  }
  return Object.fromEntries(totals) as Record<Arm['direction'], PairTotal>;
}

/** Lists the texts of the pair, newest first: inbound and outbound texts are two listings that are merged. */
export function listSmsOfPair(
  workspaceId: string,
  { number, sender }: Pair,
  filters: SmsRowFilter[],
  page: Page,
): Promise<SmsListed> {
  const choices = arms.flatMap(({ direction, theirs, index, own }) =>
    filters
      .filter((filter) => filter.direction === undefined || filter.direction === direction)
      .map(
        (filter): SmsChoice => ({
          filter: { ...filter, direction },
          conditions: [
            [theirs, Buffer.from(number), index],
            [own, keyOfAddress(sender), null],
          ],
        }),
      ),
  );
  return listSmsOfAny(workspaceId, choices, page);
}

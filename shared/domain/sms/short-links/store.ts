import { createHash } from 'node:crypto';
import { seal } from '../../../common/secrets.ts';
import {
  insertShortLinks,
  insertShortLinkTotals,
  type NewShortLinkRecord,
  type NewTotal,
} from '../../../db/sms/short-links/short-links.ts';
import { newId } from '../../../formats/ids.ts';
import type { ShortenedLink } from './shorten.ts';

/** A message, and the URLs that were shortened in it. `writtenIn`, for batches, returns a URL as the source has it. */
type LinkedMessage = {
  smsId: string;
  createdAt: Date;
  links: ShortenedLink[];
  batchId?: string | null;
  writtenIn?: (url: string) => string;
};

const longestUrl = 2_048;

/**
 * Stores the links of messages of one workspace, in the transaction that stores the messages. There is one message, or
 * up to 500 of a batch.
 */
export async function store(workspaceId: string, messages: readonly LinkedMessage[]): Promise<void> {
  const records = messages.flatMap(recordsOf);
  if (records.length === 0) return;
  await insertShortLinks(workspaceId, records);
  const totals = totalsOf(records);
  if (totals.length > 0) await insertShortLinkTotals(workspaceId, totals);
}

function recordsOf({
  smsId,
  createdAt,
  links,
  batchId = null,
  writtenIn,
}: LinkedMessage): NewShortLinkRecord[] {
  return links.map(({ url, token }, place) => {
    const before = batchId === null ? null : (writtenIn?.(url) ?? url);
    return {
      id: newId('link', createdAt),
      smsId,
      place,
      batchId,
      url,
      written:
        before === null ? null : { url: [...before].slice(0, longestUrl).join(''), hash: hashOf(before) },
      tokenHash: hashOf(token),
      token: seal(sealOwner(smsId, place), token),
    };
  });
}

/** Counts, for each batch and URL as written, the messages that have the URL, however often it is in one. */
function totalsOf(records: NewShortLinkRecord[]): NewTotal[] {
  const totals = new Map<string, NewTotal>();
  const counted = new Set<string>();
  for (const { batchId, smsId, written } of records) {
    if (batchId === null || !written) continue;
    const key = `${batchId} ${written.hash.toString('hex')}`;
    const total = totals.get(key) ?? { batchId, ...written, messages: 0 };
    totals.set(key, total);
    if (counted.has(`${smsId} ${key}`)) continue;
    counted.add(`${smsId} ${key}`);
    total.messages += 1;
  }
  return [...totals.values()];
}

/** Names the owner of a sealed token: a token that is opened under another name is refused. */
export const sealOwner = (smsId: string, place: number): string => `${smsId} ${place}`;

/** Returns the hash by which a token is looked up, and by which a written URL is known. */
export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

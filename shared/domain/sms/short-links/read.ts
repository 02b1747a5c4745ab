import { problem } from '../../../common/errors.ts';
import { open } from '../../../common/secrets.ts';
import { findSmsBatch } from '../../../db/sms/batches/batches.ts';
import { findSms } from '../../../db/sms/messages.ts';
import { listBatchLinks, listShortLinksOfSms } from '../../../db/sms/short-links/short-links.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { BatchLink, ShortLink } from '../../../schemas/sms/short-links.ts';
import { wireOf } from '../../requests/wire.ts';
import { shortUrlOf } from './shorten.ts';
import { sealOwner } from './store.ts';

/** The links of a message, as they are in its text. */
export async function listOfSms(
  { workspaceId, scopes }: Caller,
  smsId: string,
): Promise<{ data: ShortLink[]; nextCursor: null }> {
  if (!(await findSms(workspaceId, smsId))) throw problem('not_found');
  const seesContent = scopes.has('content.read');
  const records = await listShortLinksOfSms(workspaceId, smsId);
  const data = records.map((record) =>
    wireOf(ShortLink, {
      ...record,
      url: seesContent ? record.url : null,
      shortUrl: seesContent ? shortUrlOf(open(sealOwner(smsId, record.place), record.token)) : null,
    }),
  );
  return { data, nextCursor: null };
}

const mostBatchLinks = 1_000;

/** The links of a batch by the URL as it was written, most clicks first: the first thousand. */
export async function listOfBatch(
  { workspaceId, scopes }: Caller,
  batchId: string,
): Promise<{ data: BatchLink[]; nextCursor: null }> {
  if (!(await findSmsBatch(workspaceId, batchId))) throw problem('not_found');
  const seesContent = scopes.has('content.read');
  const records = await listBatchLinks(workspaceId, batchId, mostBatchLinks);
  const data = records.map((record) =>
    wireOf(BatchLink, { ...record, url: seesContent ? record.url : null }),
  );
  return { data, nextCursor: null };
}

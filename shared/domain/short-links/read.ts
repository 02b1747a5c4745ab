import { listShortLinksOfSms } from '../../db/short-links.ts';
import { findSms } from '../../db/sms-messages.ts';
import { problem } from '../../errors.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { ShortLink } from '../../schemas/short-links.ts';
import { open } from '../../secrets.ts';
import { shortUrlOf } from './shorten.ts';
import { sealOwner } from './store.ts';

/** Those of a message, as they are in its text. */
export async function listOfSms(
  { workspaceId, scopes }: Caller,
  smsId: string,
): Promise<{ data: ShortLink[]; nextCursor: null }> {
  if (!(await findSms(workspaceId, smsId))) throw problem('not_found');
  const seesContent = scopes.has('content.read');
  const data = (await listShortLinksOfSms(workspaceId, smsId)).map(
    ({ id, place, url, token, ...clicked }) => ({
      id,
      url: seesContent ? url : null,
      shortUrl: seesContent ? shortUrlOf(open(sealOwner(smsId, place), token)) : null,
      clicks: clicked.clicks,
      firstClickedAt: clicked.firstClickedAt?.toISOString() ?? null,
      lastClickedAt: clicked.lastClickedAt?.toISOString() ?? null,
    }),
  );
  return { data, nextCursor: null };
}

import { config } from '../../../config/config.ts';
import { findShortLink } from '../../../db/sms/short-links/short-links.system.ts';
import { isDramaNumber } from '../../../formats/sms/phone-number.ts';
import { isToken, targetOf } from './shorten.ts';
import { hashOf } from './store.ts';

type Resolved =
  | { kind: 'found'; location: string; link: { smsId: string; place: number } }
  | { kind: 'unknown' }
  /** The operator has blocked the workspace that sent the link. */
  | { kind: 'blocked' };

/**
 * Returns where a token leads. Before its message is handed over, a token leads nowhere: nobody can make links without
 * sending them.
 */
export async function resolve(token: string): Promise<Resolved> {
  const found = isToken(token) ? await findShortLink(hashOf(token)) : null;
  if (!found?.isHandedOver) return { kind: 'unknown' };
  if (isDramaNumber(found.recipient) && !config.SHORT_LINKS_TO_DRAMA_NUMBERS) return { kind: 'unknown' };
  if (found.isBlocked) return { kind: 'blocked' };
  const target = targetOf(found.url);
  if (!target) return { kind: 'unknown' };
  const { smsId, place } = found;
  return { kind: 'found', location: target.href, link: { smsId, place } };
}

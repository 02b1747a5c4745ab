import { now } from '../clock.ts';
import { invalid } from '../errors.ts';
import { partsOf } from '../formats/gsm-7.ts';
import { parsePhoneNumber } from '../formats/phone-number.ts';
import type { SmsPreview, SmsToPreview } from '../schemas/sms-preview.ts';
import { shorten } from './short-links.ts';
import { costOf, costToWire, priceOf } from './sms-prices.ts';

/** Of more parts than a message may have, too: so it tells how much must go. */
export async function preview({ content, recipient, shortenLinks }: SmsToPreview): Promise<SmsPreview> {
  const shortened = shortenLinks ? shorten(content) : { ok: true as const, text: content };
  if (!shortened.ok) throw invalid('content', shortened.message);
  const { encoding, parts } = partsOf(shortened.text);
  if (recipient == null) return { parts: parts.length, encoding };
  const number = parsePhoneNumber(recipient);
  if (!number.ok) throw invalid('recipient', number.message);
  const price = await priceOf(number.country, now());
  return { parts: parts.length, encoding, cost: costToWire(costOf(parts.length, price)) };
}

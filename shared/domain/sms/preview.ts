import { now } from '../../common/clock.ts';
import { checked, faultsIn, orRefuse, type Refuse, type Usable } from '../../common/faults.ts';
import { config } from '../../config/config.ts';
import { partsOf } from '../../formats/sms/gsm-7.ts';
import { parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import type { SmsPreview, SmsToPreview } from '../../schemas/sms/preview.ts';
import { costOf, costToWire, priceOf } from './prices.ts';
import { shorten } from './short-links/short-links.ts';

/**
 * Previews a text, even one with more parts than a message may have, so that the caller sees by how much to shorten it.
 */
export async function preview(request: SmsToPreview): Promise<SmsPreview> {
  const { text, number } = await checked((refuse) => check(request, refuse));
  const { encoding, parts } = partsOf(text!);
  const sized = { parts: parts.length, encoding, tooManyParts: parts.length > config.SMS_MAX_PARTS };
  if (!number) return sized;
  const price = await priceOf(number.country, now());
  return { ...sized, cost: costToWire(costOf(parts.length, price)) };
}

/** The faults for which `preview` would refuse a request, as far as the fields can be used. */
export const faultsOf = (request: Usable<SmsToPreview>) => faultsIn((refuse) => check(request, refuse));

function check({ content, recipient, shortenLinks }: Usable<SmsToPreview>, refuse: Refuse) {
  const shortened =
    content !== undefined && shortenLinks ? orRefuse(shorten(content), 'content', refuse) : null;
  const number = recipient == null ? null : orRefuse(parsePhoneNumber(recipient), 'recipient', refuse);
  return { text: shortened?.text ?? content, number };
}

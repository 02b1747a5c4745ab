import { LRUCache } from 'lru-cache';
import { findSmsBalance } from '../../../db/sms/balances.ts';
import type { PhoneNumber } from '../../../formats/sms/phone-number.ts';
import { senderKeysOf } from '../../../formats/sms/sender-name.ts';
import { hasRoute, mayLeave } from '../../../transports/sms.ts';
import { findApproved, listKeys, unknownSender } from '../../senders/senders.ts';
import { unreachableFrom } from '../delivery/reasons.ts';
import { type Money, noPriceMessage, priceOf } from '../prices.ts';

/** The most pairs of a sender and a country that are remembered: a file may name any number of senders. */
const mostRemembered = 5_000;

/**
 * The route of a message: its sender and the price of a part, or the reason why there is none. `sender`: the sender's
 * address; null where the workspace has no such sender.
 */
export type SenderRoute =
  | { ok: true; sender: string; price: Money; isCounted: boolean }
  | {
      ok: false;
      field: 'sender' | 'recipient';
      code: 'sender_not_approved' | 'no_price' | 'no_route';
      message: string;
      sender: string | null;
    };

const refusal = (message: string, sender: string | null): SenderRoute => ({
  ok: false,
  field: 'sender',
  code: 'sender_not_approved',
  message,
  sender,
});

/**
 * Makes a function that finds routes. The sender and price for a country are looked up once. Once one sender was
 * refused, no further unknown sender is looked up, however many of them the rows name. `isCounted`: the workspace has a
 * balance.
 */
export function router(
  workspaceId: string,
  at: Date,
): (sender: string | null, recipient: Pick<PhoneNumber, 'number' | 'country'>) => Promise<SenderRoute> {
  const known = new LRUCache<string, Promise<SenderRoute>>({ max: mostRemembered });
  let counted: Promise<boolean> | undefined;
  /** The keys of all senders of the workspace, once one was refused. */
  let own: Set<string> | undefined;

  async function find(name: string | null, country: string | null, leaves: boolean): Promise<SenderRoute> {
    const approved = await findApproved(workspaceId, name, country, leaves);
    if (!approved.ok) {
      if (name !== null) own ??= new Set(await listKeys(workspaceId));
      return refusal(approved.message, approved.address);
    }
    const sender = approved.sender.address;
    const price = await priceOf(country, at);
    counted ??= findSmsBalance(workspaceId).then((balance) => balance !== null);
    const isCounted = await counted;
    // Without a balance nothing is charged, so no price is needed.
    if (isCounted && price.gbp === null)
      return {
        ok: false,
        field: 'recipient',
        code: 'no_price',
        message: noPriceMessage(country),
        sender,
      };
    return { ok: true, sender, price, isCounted };
  }

  const mayBeOwn = (keys: string[]) => (own ? keys.some((key) => own!.has(key)) : keys.length > 0);

  return async (name, { number, country }) => {
    const keys = name === null ? [] : senderKeysOf(name);
    if (name !== null && !mayBeOwn(keys)) return refusal(unknownSender, null);
    // All spellings of a sender have one route.
    const leaves = mayLeave(number);
    const key = [country, leaves, ...keys].join(' ');
    let found = known.get(key);
    if (!found) known.set(key, (found = find(name, country, leaves)));
    const route = await found;
    if (!route.ok || hasRoute({ sender: route.sender, recipient: number, country })) return route;
    const { sender } = route;
    return { ok: false, field: 'recipient', code: 'no_route', message: unreachableFrom(sender), sender };
  };
}

import { findSmsBalance } from '../../../db/sms/balances.ts';
import { findApproved } from '../../senders/senders.ts';
import { type Money, priceOf } from '../prices.ts';

/** So many different senders are looked for: a workspace has no more of them. */
const mostSenders = 500;

/** The sender of a message to a country and the price of a part, or why it cannot be sent. */
export type SenderRoute =
  | { ok: true; sender: string; price: Money; isCounted: boolean }
  | { ok: false; field: 'sender' | 'recipient'; code: 'sender_not_approved' | 'no_price'; message: string };

/** Makes a function that finds routes, each of which is looked for once. `isCounted`: the workspace has a balance. */
export function router(
  workspaceId: string,
  at: Date,
): (sender: string | null, country: string | null) => Promise<SenderRoute> {
  const known = new Map<string, Promise<SenderRoute>>();
  const unknown = new Set<string>();
  let counted: Promise<boolean> | undefined;

  async function find(name: string | null, country: string | null): Promise<SenderRoute> {
    const refuse = (message: string): SenderRoute => ({
      ok: false,
      field: 'sender',
      code: 'sender_not_approved',
      message,
    });
    if (unknown.size >= mostSenders) return refuse('is not of this workspace');
    const approved = await findApproved(workspaceId, name, country);
    if (!approved.ok) {
      if (name !== null) unknown.add(name);
      return refuse(approved.message);
    }
    const price = await priceOf(country, at);
    counted ??= findSmsBalance(workspaceId).then((balance) => balance !== null);
    const isCounted = await counted;
    // Without a balance nothing is charged, so no price is needed.
    if (isCounted && price.gbp === null)
      return {
        ok: false,
        field: 'recipient',
        code: 'no_price',
        message: `has no price: it is in ${country ?? 'a country that is not known'}`,
      };
    return { ok: true, sender: approved.sender.address, price, isCounted };
  }

  return (name, country) => {
    const key = `${country} ${name}`;
    let route = known.get(key);
    if (!route) known.set(key, (route = find(name, country)));
    return route;
  };
}

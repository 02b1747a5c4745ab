import * as asks from './asks.ts';
import { batch } from './batches.ts';
import type { Ledger } from './ledger.ts';
import type { Planned, Recent, Scene } from './planned.ts';
import { pick, randomOf } from './random.ts';
import { email, text } from './sends.ts';
import type { Random } from './types.ts';

/** Operations with their weights. */
const weights: [weight: number, make: (scene: Scene) => Planned | null][] = [
  [38, email],
  [20, text],
  [3, batch],
  [3, asks.suppression],
  [4, asks.contacts],
  [14, asks.readOne],
  [4, asks.readList],
  [3, asks.readEvents],
  [4, asks.readForeign],
  [1, asks.reuseKey],
];
const total = weights.reduce((sum, [weight]) => sum + weight, 0);

/** Draws the requests in order. `later` takes requests that follow from an answer, such as cancellations. */
export function makePlan(ledger: Ledger, random: Random, later: Scene['later']): { next: () => Planned } {
  const senders = ledger.customers.filter(({ isBystander }) => !isBystander);
  const recent = new Map<number, Recent>(
    ledger.customers.map(({ index }) => [index, { items: [], requests: [], suppressed: [] }]),
  );
  let count = 0;
  return {
    next() {
      const own = randomOf(Math.floor(random() * 2 ** 32));
      const customer = pick(own, senders);
      count += 1;
      const scene: Scene = {
        random: own,
        ledger,
        customer,
        others: ledger.customers.filter((other) => other !== customer),
        recent: recent.get(customer.index)!,
        key: `${customer.workspaceId.slice(-8)}-${count}`,
        later,
      };
      let place = own() * total;
      const [, make] = weights.find(([weight]) => (place -= weight) < 0) ?? weights[0]!;
      // An email is sent where there is nothing to read or to repeat yet.
      return make(scene) ?? email(scene);
    },
  };
}

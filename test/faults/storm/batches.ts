import { subjectWord } from './copies.ts';
import type { Item, Ledger } from './ledger.ts';
import { type Planned, planned, repeats, type Scene } from './planned.ts';
import { between } from './random.ts';
import type { Rows } from './rows.ts';

/** A batch of texts that a 2xx answer promised. */
export type Batch = {
  id: string;
  customer: number;
  startedMs: number;
  acceptedMs: number;
  /** By the clientReference of each message. */
  recipients: Map<string, string>;
};

/** Returns the Idempotency-Key of the batch whose message has this clientReference. */
export const batchKeyOf = (reference: string): string => reference.replace(/-m\d+$/, '');

/** Sends a batch of a few texts to phones of the simulator that accept them. */
export function batch(scene: Scene): Planned {
  const { random, ledger, customer, key } = scene;
  const first = between(random, 100, 980);
  // A batch takes a number once.
  const messages = Array.from({ length: between(random, 3, 12) }, (_, index) => ({
    recipient: `+447700900${first + index}`,
    clientReference: `${key}-m${index}`,
  }));
  return planned(scene, 'send batch', {
    method: 'POST',
    path: '/v2/sms/batches',
    body: JSON.stringify({ messages, content: `${subjectWord} ${key}`, clientReference: key }),
    idempotencyKey: key,
    ...repeats(random),
    accepted: ({ id }, { startedMs, answeredMs }) => {
      if (ledger.batches.has(id)) return;
      ledger.batches.set(id, {
        id,
        customer: customer.index,
        startedMs,
        acceptedMs: answeredMs,
        recipients: new Map(messages.map((one) => [one.clientReference, one.recipient])),
      });
    },
  });
}

/** Makes the messages of the batches known as items, so that each check sees them. Their ids are in the rows only. */
export function noteBatchItems(ledger: Ledger, rows: Rows): void {
  for (const [id, { batchId, reference, parts }] of rows.texts) {
    const from = batchId === null ? undefined : ledger.batches.get(batchId);
    const recipient = reference === null ? undefined : from?.recipients.get(reference);
    if (!from || reference === null || recipient === undefined) continue;
    const { customer, startedMs, acceptedMs } = from;
    const item: Item = {
      id,
      kind: 'sms',
      customer,
      key: reference,
      recipient,
      startedMs,
      acceptedMs,
      scheduledMs: null,
      isToSuppressed: false,
      parts,
    };
    ledger.items.set(id, item);
  }
}

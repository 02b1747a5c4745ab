import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { Finding, Ledger, Receivers } from './types.ts';

/** The most ids of a finding that are looked up. */
const mostIds = 20;

const tables: Record<string, string[]> = {
  email: ['emails WHERE id', 'events WHERE record_id'],
  sms: ['sms_messages WHERE id', 'events WHERE record_id'],
  delivery: ['webhook_deliveries WHERE id', 'webhook_attempts WHERE delivery_id'],
};

/** Collects by id the rows and what the outside saw, because the databases are gone once the run is over. */
export async function evidenceOf(
  findings: readonly Finding[],
  ledger: Ledger,
  { received }: Pick<Receivers, 'received'>,
): Promise<Record<string, unknown>> {
  const evidence: Record<string, unknown> = {};
  for (const id of findings.flatMap(({ ids }) => ids.slice(0, mostIds))) {
    const [prefix = ''] = id.split('_');
    const rows: Record<string, unknown> = {};
    // Only ids of the platform are looked up; a finding may also name an Idempotency-Key or a plain text.
    if (/^[a-z]+_[0-9a-z]{26}$/.test(id))
      for (const source of tables[prefix] ?? [])
        rows[source.split(' ')[0] ?? source] = await query(`SELECT * FROM ${source} = ?`, [idToBytes(id)]);
    const item = ledger.items.get(id);
    evidence[id] = {
      rows,
      received: received.get(id),
      item,
      copies: ledger.copies.get(item?.key ?? id),
      request: ledger.requests.get(item?.key ?? id),
    };
  }
  return JSON.parse(JSON.stringify(evidence, readable));
}

/** Replaces bytes by hexadecimal digits, as a JSON replacer. */
function readable(_: string, value: unknown): unknown {
  const bytes = value as { type?: unknown; data?: number[] } | null;
  return bytes?.type === 'Buffer' && bytes.data ? Buffer.from(bytes.data).toString('hex') : value;
}

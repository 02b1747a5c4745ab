import { batchKeyOf } from '../batches.ts';
import { isTaken } from '../ledger.ts';
import type { RecordRow } from '../rows.ts';
import type { Evidence, Finding } from '../types.ts';
import { collect } from './findings.ts';

/** I2: each message that arrives or is stored was requested (accepted, or its answer lost), and was not cancelled. */
export function noGhost({ ledger, rows }: Evidence): Finding[] {
  const findings = collect('I2');
  const { requests } = ledger;
  const requestOf = (reference: string) => requests.get(reference) ?? requests.get(batchKeyOf(reference));
  const rowOf = new Map([...rows.emails.values()].map((row) => [row.reference, row]));
  for (const [reference, copies] of ledger.copies) {
    const row = rowOf.get(reference);
    if (!row) findings.add('it has arrived, and there is no such email', reference || copies[0]!.messageId);
    else if (row.status === 'cancelled' && copies.some(isTaken))
      findings.add('it has arrived although it is cancelled', row.id);
    else if (copies.some(({ messageId }) => !messageId.startsWith(`<${row.id}@`)))
      findings.add('it has arrived under the Message-ID of another', row.id);
  }
  for (const row of rows.emails.values()) addUnasked(row);
  for (const row of rows.texts.values()) {
    if (row.direction === 'outbound') addUnasked(row);
    if (row.status === 'cancelled' && rows.simulated.has(row.id))
      findings.add('it has arrived although it is cancelled', row.id);
  }
  for (const id of rows.simulated)
    if (!rows.texts.has(id)) findings.add('it has arrived, and there is no such text', id);

  function addUnasked({ id, reference }: RecordRow): void {
    const request = reference === null ? undefined : requestOf(reference);
    if (!request) findings.add('nobody asked for it', id);
    else if (request.status !== null && request.status >= 300)
      findings.add(`its request was refused, with ${request.status}`, id);
  }
  return findings.list();
}

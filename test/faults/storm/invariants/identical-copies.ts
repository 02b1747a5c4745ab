import type { Evidence, Finding } from '../types.ts';
import { collect } from './findings.ts';

/** I4: all copies of one email have the same Message-ID and the same bytes; all attempts of one delivery the same body. */
export function identicalCopies({ world, ledger }: Evidence): Finding[] {
  const findings = collect('I4');
  for (const [reference, copies] of ledger.copies) {
    const [first] = copies;
    if (copies.some(({ messageId }) => messageId !== first!.messageId))
      findings.add('its copies have several Message-IDs', reference);
    if (copies.some(({ hash }) => hash !== first!.hash)) findings.add('its copies differ', reference);
  }
  for (const [id, { hashes }] of world.receivers.received)
    if (hashes.length > 1) findings.add('the body of a delivery changed between its attempts', id);
  for (const text of world.receivers.oddities) findings.add('an endpoint got what it should not', text);
  return findings.list();
}

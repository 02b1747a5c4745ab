import type { Evidence, Finding } from '../types.ts';
import { addOdd, collect } from './findings.ts';

/** I9: however often a request was made with its key, it had one effect, and all of its 2xx answers are the same bytes. */
export function equalAnswers(evidence: Evidence): Finding[] {
  const { ledger, rows } = evidence;
  const findings = collect('I9');
  const effects = new Map<string, string[]>();
  for (const table of [rows.emails, rows.texts])
    for (const { id, reference } of table.values())
      if (reference !== null) effects.set(reference, [...(effects.get(reference) ?? []), id]);
  for (const { key, hashes } of ledger.requests.values()) {
    if (hashes.length > 1) findings.add('its answers were not the same', key);
    const ids = effects.get(key) ?? [];
    if (ids.length > 1) findings.add(`it had ${ids.length} effects`, `${key}: ${ids.join(' ')}`);
  }
  for (const { id, key } of ledger.items.values())
    if (!effects.get(key)?.includes(id))
      findings.add('the answer names another record than the one it made', `${key}: ${id}`);
  addOdd(evidence, findings, ['reuse a key']);
  return findings.list();
}

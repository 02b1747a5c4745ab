import { noteBatchItems } from '../batches.ts';
import { readRows } from '../rows.ts';
import type { Check, Finding, InjectedFault, Ledger, World } from '../types.ts';
import { cancelRaces } from './cancel-races.ts';
import { countedDuplicates } from './counted-duplicates.ts';
import { equalAnswers } from './equal-answers.ts';
import { gaplessEvents } from './gapless-events.ts';
import { identicalCopies } from './identical-copies.ts';
import { noGhost } from './no-ghost.ts';
import { nothingLost } from './nothing-lost.ts';
import { nothingOverdue } from './nothing-overdue.ts';
import { ownRowsOnly } from './own-rows-only.ts';
import { quotas } from './quotas.ts';
import { stateForward } from './state-forward.ts';
import { suppressionsKept } from './suppressions-kept.ts';

export const checks: readonly Check[] = [
  nothingLost,
  noGhost,
  countedDuplicates,
  identicalCopies,
  stateForward,
  cancelRaces,
  quotas,
  gaplessEvents,
  equalAnswers,
  suppressionsKept,
  nothingOverdue,
  ownRowsOnly,
];

/** Checks all twelve invariants. The caller has closed the load, all work is done, and a web process still answers. */
export async function checkInvariants(
  world: Pick<World, 'webUrls' | 'settings' | 'receivers'>,
  ledger: Ledger,
  { faults }: { faults: readonly InjectedFault[] },
): Promise<Finding[]> {
  const rows = await readRows(ledger.customers);
  noteBatchItems(ledger, rows);
  const evidence = { world, ledger, faults, rows };
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check(evidence)));
  return findings;
}

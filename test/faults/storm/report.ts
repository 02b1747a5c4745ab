import type { Options, Outcome } from './run.ts';
import { memoryByKind } from './samples.ts';
import type { Measured } from './soak.ts';

type Row = readonly (string | number)[];

/** Formats a table with columns as wide as needed and numbers to the right. */
export function table(head: Row, rows: readonly Row[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => String(row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const tally = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(names.toSorted(), (name) => name)].map(([name, all]) => [name, all.length]),
  );

/** Returns the injected faults, each as `kind, target`. */
const faultNames = ({ faults }: Pick<Outcome, 'faults'>): string[] =>
  faults.map(({ kind, target }) => `${kind}, ${target}`);

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

export function findingsText({ findings, oddities }: Pick<Outcome, 'findings' | 'oddities'>): string {
  return [
    ...findings.map(
      ({ invariant, text, ids }) =>
        `${invariant}: ${text}${ids.length > 0 ? `\n    ${ids.slice(0, 20).join('\n    ')}` : ''}`,
    ),
    ...oddities.map(({ slot, text }) => `${slot}: ${text}`),
  ].join('\n');
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

function requestsText({ counts }: Outcome['ledger']): string {
  const rows = [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(
      ([operation, { accepted, refused, repeated, replayed, unknown }]) =>
        [operation, accepted, refused, repeated, replayed, unknown] as const,
    );
  const all = [1, 2, 3, 4, 5].map((column) => rows.reduce((sum, row) => sum + Number(row[column]), 0));
  const head = ['requests', 'accepted', 'refused', 'repeated', 'replayed', 'unknown'];
  return table(head, [...rows, ['all', ...all]]);
}

const memoryText = (samples: Outcome['samples']): string =>
  table(
    ['memory, MiB (median)', 'first quarter', 'second', 'last'],
    Object.entries(memoryByKind(samples)).map(([kind, { first, second, last }]) => [
      kind,
      ...[first, second, last].map((bytes) => Number(mib(bytes))),
    ]),
  );

const lostInvariant = 'I1';

/** Counts the accepted messages that were lost, by the ids in the findings. */
const lostCount = ({ findings }: Pick<Outcome, 'findings'>): number =>
  new Set(
    findings
      .filter(({ invariant }) => invariant === lostInvariant)
      .flatMap(({ ids }) => ids.filter((id) => /^(email|sms)_/.test(id))),
  ).size;

export function stormText(outcome: Outcome, { seed, durationMs }: Options): string {
  const { recovery, restAfterMs, duplicates, stored, findings } = outcome;
  const kinds = tally(faultNames(outcome));
  const invariants = Array.from({ length: 12 }, (_, index) => `I${index + 1}`);
  return [
    `${seconds(durationMs / 60)} minutes, seed ${seed}`,
    table(['fault', 'times'], [...Object.entries(kinds), ['all', outcome.faults.length]]),
    requestsText(outcome.ledger),
    table(['stored', 'rows'], Object.entries(stored)),
    `Lost: ${lostCount(outcome)}`,
    table(
      ['second copies, by cause', 'times'],
      [...duplicates, ['all', [...duplicates.values()].reduce((sum, times) => sum + times, 0)]],
    ),
    table(
      ['invariant', 'findings'],
      invariants.map((name) => [name, findings.filter(({ invariant }) => invariant === name).length]),
    ),
    table(
      ['after the last fault', 'items', 'p50 s', 'max s'],
      Object.entries(recovery).map(([what, { items, p50Ms, maxMs }]) => [
        what,
        items,
        seconds(p50Ms),
        seconds(maxMs),
      ]),
    ),
    `At rest ${seconds(restAfterMs)} s after the last fault`,
    memoryText(outcome.samples),
  ].join('\n\n');
}

export const soakText = (perSecond: number, measured: readonly Measured[]): string =>
  table(
    [`${(perSecond / 2).toFixed(1)} requests a second`, 'first half', 'last quarter', ''],
    measured.map(({ what, unit, before, last, isLevel }) => [
      `${what}${unit && `, ${unit}`}`,
      Number(before.toFixed(2)),
      Number(last.toFixed(2)),
      isLevel ? 'level' : 'GROWS',
    ]),
  );

export const jsonOf = (outcome: Outcome, { seed, durationMs }: Options): object => ({
  seed,
  minutes: durationMs / 60_000,
  faults: outcome.faults,
  requests: Object.fromEntries(outcome.ledger.counts),
  stored: outcome.stored,
  lost: lostCount(outcome),
  duplicates: Object.fromEntries(outcome.duplicates),
  findings: outcome.findings,
  evidence: outcome.evidence,
  oddities: outcome.oddities,
  recovery: outcome.recovery,
  restAfterMs: outcome.restAfterMs,
  memoryBytes: memoryByKind(outcome.samples),
});

import { hash } from 'node:crypto';
import { count } from '../common/metrics.ts';
import { config } from '../config/config.ts';
import type { MjmlFault } from '../formats/templates/mjml.ts';
import { openCompiled } from './compiled.ts';
import { startMjmlProcess } from './mjml-process.ts';
import { lazyPool, openPoolOf } from './pool.ts';
import { mjmlRuns } from './protocol.ts';

type CompileResult =
  /** `html` null: Liquid builds the structure, so it must be rendered first. */
  | { ok: true; html: string | null }
  | { ok: false; errors: MjmlFault[]; busy?: never }
  | { ok: false; busy: true; errors?: never };

const heapMb = 256;
const compiled = openCompiled(16_000_000);
const underWay = new Map<string, Promise<CompileResult>>();

const pool = lazyPool(() =>
  openPoolOf(config.MJML_PROCESSES, {
    name: 'mjml',
    start: (events) => startMjmlProcess(heapMb, events),
    spares: 0,
    // This includes the start of a process, which takes a second, on a busy machine several.
    waitMs: 20_000,
    runs: mjmlRuns,
    words: {
      'out of time': `takes longer than ${mjmlRuns.full.kill / 1000} s to compile`,
      'out of memory': `needs more than ${heapMb} MB to compile`,
      crash: 'could not be compiled',
    },
  }),
);
export const { close: closeMjml, stats: mjmlStats } = pool;

/** Compiles MJML with Liquid in it, once for each source; the result still contains Liquid. */
export async function compileTemplate(workspaceId: string, source: string): Promise<CompileResult> {
  // The includes are already in their places, so the hash covers them too.
  const key = hash('sha256', source, 'base64url');
  const known = compiled.get(key);
  if (known) return { ok: true, ...known };
  // Shared within a workspace only, because a waiting compilation counts against the share of its workspace.
  const mine = `${workspaceId} ${key}`;
  let result = underWay.get(mine);
  if (!result) {
    result = run(workspaceId, { source, isTemplate: true }, key);
    underWay.set(mine, result);
    const forget = () => underWay.delete(mine);
    result.then(forget, forget);
  }
  const made = await result;
  if (made.ok) compiled.set(key, { html: made.html });
  return made;
}

/** Compiles MJML whose Liquid has been rendered. */
export function compileRendered(workspaceId: string, source: string): Promise<CompileResult> {
  return run(workspaceId, { source, isTemplate: false }, hash('sha256', source, 'base64url'));
}

async function run(
  workspaceId: string,
  job: { source: string; isTemplate: boolean },
  key: string,
): Promise<CompileResult> {
  count('mjml_compiles');
  const outcome = await pool.opened().run({
    workspaceId,
    source: key,
    message: { kind: 'mjml', ...job },
    length: job.source.length,
  });
  if (outcome.outcome === 'busy') return { ok: false, busy: true };
  if (outcome.outcome === 'done') return { ok: true, html: outcome.outputs[0] ?? null };
  return { ok: false, errors: outcome.faults.map(({ part: _part, parsing: _parsing, ...fault }) => fault) };
}

import { hash } from 'node:crypto';
import { closeAtEnd } from '../common/closing.ts';
import { gauge } from '../common/metrics.ts';
import { config } from '../config/config.ts';
import { isTooLong, tooLong } from '../formats/templates/liquid-limits.ts';
import { isLiquid } from '../formats/templates/liquid-tokens.ts';
import { encodeData } from './data.ts';
import { closeMailThreads } from './mail.ts';
import { closeMjml } from './mjml.ts';
import { openPool, type Pool, type PoolStats, statsOf } from './pool.ts';
import type { RenderError, RenderResult } from './results.ts';
import { type RowResult, type RowsRequest, renderRows } from './rows.ts';

/** `escape`: values are escaped for HTML, except after `| raw`. */
export type RenderPart = { name: string; source: string; escape: boolean };
type RenderRequest = {
  workspaceId: string;
  parts: RenderPart[];
  /** JSON only; at most 1 MiB and 64 levels. */
  data: Record<string, unknown>;
  /** The time that `now` and `today` stand for: with the same time a render gives the same bytes again. */
  now: Date;
};

export type { RenderError, RenderResult } from './results.ts';

let pool: Pool | undefined;

gauge('template_renders_waiting', () => sandboxStats().queued);

/**
 * Renders customers' Liquid in another thread, which is killed if necessary. The outputs are in the order of the
 * parts. Rejects only when the sandbox is closed meanwhile, or the machine gives it no threads: whatever a customer
 * sends is answered by a result.
 */
export function render({ data, ...request }: RenderRequest): Promise<RenderResult> {
  return run(request, data);
}

/** Parses without rendering; the outputs mean nothing. */
export function check(request: Pick<RenderRequest, 'workspaceId' | 'parts'>): Promise<RenderResult> {
  return run({ ...request, now: new Date(0) }, null);
}

async function run(
  { workspaceId, parts, now }: Omit<RenderRequest, 'data'>,
  data: Record<string, unknown> | null,
): Promise<RenderResult> {
  const errors = parts.flatMap(({ name, source }): RenderError[] =>
    isTooLong(source) ? [{ part: name, message: tooLong, parsing: true }] : [],
  );
  if (errors.length > 0) return { ok: false, errors };
  const liquid = parts.filter(({ source }) => isLiquid(source));
  if (liquid.length === 0) return { ok: true, outputs: parts.map(({ source }) => source) };

  const encoded = data === null ? { json: null } : encodeData(data);
  if ('fault' in encoded) return { ok: false, errors: [{ part: 'data', message: encoded.fault }] };
  const sources = liquid.map(({ source, escape }) => ({ source, escape }));
  const outcome = await threads().run({
    workspaceId,
    source: hash('sha1', sources.map(({ source }) => source).join('\0')),
    message: { kind: 'liquid', parts: sources, data: encoded.json, now: now.getTime() },
    length: sources.reduce((sum, { source }) => sum + source.length, encoded.json?.length ?? 0),
  });

  if (outcome.outcome === 'busy') return { ok: false, busy: true };
  if (outcome.outcome === 'done') {
    const outputs = outcome.outputs.values();
    return {
      ok: true,
      outputs: parts.map((part) => (liquid.includes(part) ? (outputs.next().value ?? '') : part.source)),
    };
  }
  return {
    ok: false,
    errors: outcome.faults.map(({ part, ...fault }) => ({ part: liquid[part]?.name ?? '', ...fault })),
  };
}

/**
 * Renders many rows of data, the results in their order. A row that fails or takes too long fails alone, and rows whose
 * source has no Liquid do not enter the sandbox. Rejects as `render` does.
 */
export function renderMany(request: RowsRequest): Promise<RowResult[]> {
  return renderRows((work) => threads().run(work), request);
}

function threads(): Pool {
  closeAtEnd(closeSandbox);
  return (pool ??= openPool(config.RENDER_THREADS));
}

/** Starts a thread before the first render needs it. */
export function warmUpSandbox(): void {
  threads().warmUp();
}

/** Ends the threads; renders under way are rejected. A render after that starts new ones. */
export async function closeSandbox(): Promise<void> {
  const open = pool;
  pool = undefined;
  await Promise.all([open?.close(), closeMjml(), closeMailThreads()]);
}

/** Threads and renders waiting now, and what happened since the start. */
export function sandboxStats(): PoolStats {
  return statsOf(pool);
}

import { hash } from 'node:crypto';
import { gauge } from '../common/metrics.ts';
import { config } from '../config/config.ts';
import { isTooLong, tooHeavy, tooLong, tooSlow } from '../formats/templates/liquid-limits.ts';
import { isLiquid } from '../formats/templates/liquid-tokens.ts';
import { encodeData } from './data.ts';
import { closeMailThreads } from './mail.ts';
import { closeMjml } from './mjml.ts';
import { lazyPool, openPoolOf } from './pool.ts';
import { runs } from './protocol.ts';
import type { RenderError, RenderResult } from './results.ts';
import { type RowResult, type RowsRequest, renderRows } from './rows.ts';
import { startThread } from './thread-handle.ts';

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

/**
 * V8 ends the whole process if a thread passes its heap limit by more than 16 MB at once. So the limits in
 * shared/formats/templates/liquid-limits.ts are far lower than this one. The difference is room for data, parsed
 * templates and garbage.
 */
const heapMb = 128;

const pool = lazyPool(() =>
  openPoolOf(config.RENDER_THREADS, {
    name: 'liquid',
    start: (events) => startThread('liquid', heapMb, events),
    spares: 1,
    waitMs: 10_000,
    runs,
    words: { 'out of time': tooSlow, 'out of memory': tooHeavy, crash: 'could not be rendered' },
  }),
);

/** Threads and renders waiting now, and what happened since the start. */
export const { stats: sandboxStats } = pool;

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
  const outcome = await pool.opened().run({
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
export function renderMany<Done>(request: RowsRequest<Done>): Promise<RowResult<Done>[]> {
  return renderRows((work) => pool.opened().run(work), request);
}

/** Starts a thread before the first render needs it. */
export function warmUpSandbox(): void {
  pool.opened().warmUp();
}

/** Ends the threads; renders under way are rejected. A render after that starts new ones. */
export async function closeSandbox(): Promise<void> {
  await Promise.all([pool.close(), closeMjml(), closeMailThreads()]);
}

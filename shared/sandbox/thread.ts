import { parentPort, workerData } from 'node:worker_threads';
import { systemThreadId } from '../common/thread-cpu.ts';
import * as liquid from '../formats/templates/liquid.ts';
import { cpuMs } from '../formats/templates/liquid-limits.ts';
import { faultOf, template } from './parsed.ts';
import {
  type Batch,
  type LiquidJob,
  marks,
  marksIn,
  type PartFault,
  type Run,
  runs,
  type ThreadJob,
  type ThreadResult,
  type Unmeasured,
} from './protocol.ts';
import { seal } from './seal.ts';
import { renderRows } from './thread-rows.ts';

/** The entry of a sandbox thread: only here does the platform render customers' Liquid. */
if (!parentPort) throw new Error('thread.ts runs as a worker thread only');
const port = parentPort;
const mine = marksIn(workerData as SharedArrayBuffer);
Atomics.store(mine.counts, marks.systemId, systemThreadId());

function renderLiquid({ parts, data, now }: LiquidJob, stop: number): Unmeasured {
  const values = data === null ? null : (JSON.parse(data) as Record<string, unknown>);
  const outputs: string[] = [];
  const faults: PartFault[] = [];
  let outOfTime = false;
  function attempt<T>(part: number, parsing: boolean, work: () => T): T | undefined {
    if (outOfTime) return undefined;
    Atomics.store(mine.counts, marks.part, part);
    try {
      return work();
    } catch (error) {
      const failure = faultOf(error, parsing);
      faults.push({ part, ...failure.fault });
      ({ outOfTime } = failure);
      return undefined;
    }
  }

  const templates = parts.map((source, part) => attempt(part, true, () => template(source, stop)));
  // The limits begin only now, after parsing, so that the first render of a source has as much time as the next.
  const limits = liquid.limitsOf(stop);
  for (const [part, parsedPart] of templates.entries()) {
    if (!parsedPart || !values) continue;
    const output = attempt(part, false, () => liquid.render(parsedPart, values, new Date(now), limits));
    if (output !== undefined) outputs.push(output);
  }
  return faults.length > 0 ? { outcome: 'failed', faults, outOfTime } : { outcome: 'done', outputs };
}

function renderOne(job: ThreadJob, run: Run, startMs: number): Unmeasured {
  mine.cpuMs[0] = startMs;
  Atomics.store(mine.counts, marks.part, 0);
  Atomics.add(mine.counts, marks.begun, 1);
  if (job.kind !== 'liquid') throw new Error(`${job.kind} is not for this thread`);
  const rendered = renderLiquid(job, runs[run].stop);
  Atomics.add(mine.counts, marks.ended, 1);
  return rendered;
}

const longestHoldMs = 5;

port.on('message', ({ run, jobs }: Batch) => {
  let results: ThreadResult[] = [];
  let posted = performance.now();
  let startMs = cpuMs();
  for (const [index, job] of jobs.entries()) {
    Atomics.store(mine.counts, marks.job, index);
    const rendered = job.kind === 'rows' ? renderRows(job, run, mine) : renderOne(job, run, startMs);
    const endMs = cpuMs();
    results.push({ ...rendered, milliseconds: endMs - startMs });
    startMs = endMs;
    if (index === jobs.length - 1 || performance.now() - posted > longestHoldMs) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      port.postMessage(results);
      posted = performance.now();
      results = [];
    }
  }
});
seal();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
port.postMessage([]);

import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import * as liquid from '../formats/liquid.ts';
import { type Batch, type LiquidJob, marks, type PartFault, runs, type ThreadResult } from './protocol.ts';

/** The entry of a thread of the cage: customers' code runs here and nowhere else. */
if (!parentPort) throw new Error('thread.ts runs as a worker thread only');
const port = parentPort;
const mark = new Int32Array(workerData as SharedArrayBuffer);

const largestCache = { templates: 500, sourceLength: 10_000_000, heapBytes: 48_000_000 };
const parsed = { true: new Map<string, liquid.Template>(), false: new Map<string, liquid.Template>() };
let sourceLength = 0;

function template({ source, escape }: LiquidJob['parts'][number]): liquid.Template {
  const cache = parsed[`${escape}`];
  const found = cache.get(source);
  if (found) {
    // Re-inserted, so that the first key is the one not used for longest.
    cache.delete(source);
    cache.set(source, found);
    return found;
  }
  const made = liquid.parse(source, escape, liquid.limitsOf());
  cache.set(source, made);
  sourceLength += source.length;
  while (isFull()) {
    const [oldest] = cache.keys();
    if (oldest === undefined) break;
    cache.delete(oldest);
    sourceLength -= oldest.length;
  }
  // The same length of source takes 2 or 200 bytes a character once parsed.
  if (getHeapStatistics().used_heap_size > largestCache.heapBytes) {
    parsed.true.clear();
    parsed.false.clear();
    sourceLength = 0;
  }
  return made;
}

function isFull(): boolean {
  return (
    parsed.true.size + parsed.false.size > largestCache.templates || sourceLength > largestCache.sourceLength
  );
}

function renderLiquid(job: LiquidJob, stop: number): ThreadResult {
  const start = performance.now();
  const data = JSON.parse(job.data) as Record<string, unknown>;
  const now = new Date(job.now);
  const limits = liquid.limitsOf(stop);
  const outputs: string[] = [];
  const faults: PartFault[] = [];
  let outOfTime = false;
  for (const [part, { source, escape }] of job.parts.entries()) {
    Atomics.store(mark, marks.part, part);
    try {
      outputs.push(liquid.render(template({ source, escape }), data, now, limits));
    } catch (error) {
      if (!(error instanceof liquid.TemplateError)) throw error;
      const { message, line, column } = error;
      faults.push({ part, message, ...(line && column ? { line, column } : {}) });
      outOfTime ||= error.outOfTime;
      if (outOfTime) break;
    }
  }
  const milliseconds = performance.now() - start;
  return faults.length > 0
    ? { outcome: 'failed', faults, outOfTime, milliseconds }
    : { outcome: 'done', outputs, milliseconds };
}

const longestHoldMs = 5;

port.on('message', ({ run, jobs }: Batch) => {
  let results: ThreadResult[] = [];
  let posted = performance.now();
  for (const [index, job] of jobs.entries()) {
    Atomics.add(mark, marks.begun, 1);
    results.push(renderLiquid(job, runs[run].stop));
    Atomics.add(mark, marks.ended, 1);
    if (index === jobs.length - 1 || performance.now() - posted > longestHoldMs) {
      port.postMessage(results);
      posted = performance.now();
      results = [];
    }
  }
});
port.postMessage([]);

import { jsonFault } from '../formats/json-size.ts';
import * as liquid from '../formats/templates/liquid.ts';
import { cpuMs } from '../formats/templates/liquid-limits.ts';
import { largestData } from './data.ts';
import { faultOf, template } from './parsed.ts';
import {
  crossing,
  type Marks,
  marks,
  type PartFault,
  type RowsJob,
  type Run,
  runs,
  type Unmeasured,
} from './protocol.ts';

type Values = Record<string, unknown>;
type RenderedRow =
  | { output: string; fault?: never }
  | { fault: Omit<PartFault, 'part'>; outOfTime: boolean; output?: never };

/**
 * Renders rows until the time of the message is over. Each row has the limits of a render of its own. If a short run is
 * not enough for a row, the message ends before this row, and the row is the first of another message.
 */
export function renderRows(job: RowsJob, run: Run, mine: Marks): Unmeasured {
  const outputs: string[] = [];
  const faults: PartFault[] = [];
  const isTimeOver = timeOf(crossing.stop);
  let outputLength = 0;
  let outOfTime = false;
  let shared: Values | undefined;
  for (const [index, row] of job.rows.entries()) {
    if (index > 0 && (isTimeOver() || outputLength > crossing.outputLength)) break;
    mine.cpuMs[0] = cpuMs();
    Atomics.store(mine.counts, marks.part, index);
    Atomics.add(mine.counts, marks.begun, 1);
    // Parsed within the first row, so that the watch over the row covers this too.
    shared ??= JSON.parse(job.shared) as Values;
    const { output = '', ...failure } = renderRow(job, row, shared, runs[run].stop);
    Atomics.add(mine.counts, marks.ended, 1);
    if (failure.fault) {
      if (failure.outOfTime && run === 'short' && index > 0) break;
      faults.push({ part: index, ...failure.fault });
      outOfTime ||= failure.outOfTime;
      if (outOfTime && run === 'short') return { outcome: 'failed', faults, outOfTime };
    }
    outputs.push(output);
    outputLength += output.length;
  }
  return {
    outcome: 'done',
    outputs,
    ...(faults.length > 0 ? { faults } : {}),
    ...(outOfTime ? { outOfTime } : {}),
  };
}

/** Returns a function that tells whether this much CPU time has passed. It asks the clock first, which is cheap. */
function timeOf(milliseconds: number): () => boolean {
  const startMs = cpuMs();
  let next = performance.now() + milliseconds;
  return () => {
    const at = performance.now();
    if (at < next) return false;
    const left = milliseconds - (cpuMs() - startMs);
    next = at + left;
    return left <= 0;
  };
}

function renderRow(job: RowsJob, row: RowsJob['rows'][number], shared: Values, stop: number): RenderedRow {
  let parsing = true;
  try {
    const parsed = template(job.sources[row.source]!, stop);
    parsing = false;
    // The limits begin only now, after parsing, so that the first render of a source has as much time as the next.
    const limits = liquid.limitsOf(stop);
    const values = { ...shared, ...(JSON.parse(row.data) as Values) };
    const fault = jsonFault(values, { length: Infinity, levels: largestData.levels });
    if (fault !== null) return { fault: { message: fault, inData: true }, outOfTime: false };
    return { output: liquid.render(parsed, values, new Date(job.now), limits) };
  } catch (error) {
    return faultOf(error, parsing);
  }
}

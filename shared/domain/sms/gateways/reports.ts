import { closeAtEnd } from '../../../common/closing.ts';
import { config } from '../../../config/config.ts';
import { processReports } from '../../../queue/queue.ts';
import { setSharers } from '../../../transports/sms/token-bucket.ts';
import { type GatewayState, gatewayStates } from '../../../transports/sms.ts';

/** A report of a process about a gateway that it is connected to. */
export type GatewayReport = Omit<GatewayState, 'downSince' | 'taken'> & {
  /** RFC 3339. */
  downSince: string | null;
  /** Messages that the gateway takes each second; each part of a text counts. */
  perSecond: number;
};

const { read, write, remove } = processReports<GatewayReport>('gateways', {
  // Some minutes of writes.
  writesBetweenSweeps: 100,
  codec: JSON,
});
/** Returns the reports of all processes; null while Redis is away. */
export const readReports = read;

const everyMs = 2_000;
const sharersEveryMs = 10_000;
/** A rate is the mean over this many reports. */
const reportsOfRate = 5;

let timers: NodeJS.Timeout[] = [];
let reportsAll = false;
/** The gateways in the last report. */
let reported: string[] = [];
const samples = new Map<string, { at: number; taken: number }[]>();

/**
 * Begins to report the gateways of this process. `onlyRefusals`: the process sends now and then, and is bound only for
 * that time, so it reports only the gateways that refuse its bind.
 */
export function begin({ onlyRefusals = false } = {}): void {
  reportsAll ||= !onlyRefusals;
  if (timers.length > 0) return;
  closeAtEnd(end);
  report();
  timers = [setInterval(report, everyMs).unref()];
  if (!config.SMS_GATEWAYS?.some((settings) => 'perSecond' in settings)) return;
  void countSharers();
  timers.push(setInterval(() => void countSharers(), sharersEveryMs).unref());
}

export async function end(): Promise<void> {
  if (timers.length === 0) return;
  for (const timer of timers.splice(0)) clearInterval(timer);
  samples.clear();
  reportsAll = false;
  const names = reported.splice(0);
  if (names.length > 0) await remove(names);
}

function report(): void {
  const states = gatewayStates().filter(({ state }) => reportsAll || state.isRefused);
  const reports = states.map(({ name, state }): [string, GatewayReport] => {
    const { taken, downSince, ...known } = state;
    const perSecond = rateOf(name, taken ?? 0);
    return [name, { ...known, downSince: downSince?.toISOString() ?? null, perSecond }];
  });
  const names = reports.map(([name]) => name);
  const over = reported.filter((name) => !names.includes(name));
  reported = names;
  if (over.length > 0) void remove(over);
  if (reports.length > 0) write(reports);
}

/** Counts the processes that share each gateway. While Redis is down, each process keeps its last share of a rate. */
async function countSharers(): Promise<void> {
  const reported = await read();
  if (!reported) return;
  setSharers(
    new Map([...Map.groupBy(reported, ({ name }) => name)].map(([name, reports]) => [name, reports.length])),
  );
}

function rateOf(name: string, taken: number): number {
  const own = samples.get(name) ?? [];
  own.push({ at: performance.now(), taken });
  if (own.length > reportsOfRate + 1) own.shift();
  samples.set(name, own);
  const [first, last] = [own[0]!, own.at(-1)!];
  const seconds = (last.at - first.at) / 1000;
  return seconds > 0 ? Math.round((10 * (last.taken - first.taken)) / seconds) / 10 : 0;
}

import { fromNow, now } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { takeLease } from '../../../coordination/leases.ts';
import * as db from '../../../db/sms/messages.system.ts';
import { smsLanes } from '../../../schemas/lanes.ts';
import { type Returns, returnStepMs } from '../../../transports/sms/returns.ts';
import { gatewayReturns } from '../../../transports/sms.ts';
import * as admission from '../delivery/admission.ts';

/**
 * Brings texts forward that were put off because of a gateway, once this gateway takes texts again. In an outage each
 * text gets a time behind the others, so that they do not take the workers from other gateways. These times are far
 * ahead where many texts wait, and say nothing about when the outage ends.
 *
 * Only `due_at` changes, and only in rows without a claim. So a process may die at any point: the rows keep their old
 * time or have the new one, and the sweep makes missing jobs. A new process looks for texts that others left.
 */

const pageSize = 1_000;
/** The most pages that a step looks at: texts that wait for other gateways may lie between. */
const pagesPerStep = 5;
/** Texts that are due within this time come by themselves. */
const soonMs = 1_000;
const leaseSeconds = 10;

/** How far a search has come, and whether it has found texts. `outage`: the search began after this one. */
type Search = { outage: number; at: db.PutOffPlace; hasFound: boolean };

const searches = new WeakMap<Returns, Search>();
let timer: NodeJS.Timeout | undefined;
let running: Promise<void> | null = null;

export function begin(): void {
  timer ??= setInterval(() => {
    running ??= step().finally(() => {
      running = null;
    });
  }, returnStepMs).unref();
}

export async function end(): Promise<void> {
  clearInterval(timer);
  timer = undefined;
  await running;
}

async function step(): Promise<void> {
  for (const { name, returns } of gatewayReturns()) {
    const most = returns.step();
    if (most === 0) continue;
    try {
      // Each process asks for as many texts as it hands over itself. The lease keeps two from listing the same rows.
      const endLease = await takeLease(`sms-returns:${name}`, leaseSeconds);
      if (!endLease) continue;
      try {
        await bringForward(name, returns, most);
      } finally {
        await endLease();
      }
    } catch (error) {
      logger.debug(
        { err: error, gateway: name },
        'texts that wait for a gateway could not be brought forward',
      );
    }
  }
}

const newSearch = (outage: number): Search => ({
  outage,
  at: { dueAt: fromNow(soonMs), id: null },
  hasFound: false,
});

/** Brings up to `most` texts forward, from where the last step has ended. */
async function bringForward(gateway: string, returns: Returns, most: number): Promise<void> {
  const known = searches.get(returns);
  let search = known?.outage === returns.outage() ? known : newSearch(returns.outage());
  let left = most;
  for (let page = 0; page < pagesPerStep && left > 0; page += 1) {
    const rows = await db.listSmsPutOff(search.at, pageSize);
    const waiting = rows.filter(({ handoverGateway }) => handoverGateway === gateway).toSorted(byLane);
    const chosen = waiting.slice(0, left);
    let brought = 0;
    for (const [parked, texts] of Map.groupBy(chosen, (text) => text.parked))
      brought += await makeDue(texts, parked);
    left -= brought;
    returns.brought(brought);
    if (brought > 0) count('sms_gateway_brought_forward', { gateway }, brought);
    search.hasFound ||= chosen.length > 0;
    // Other texts of this page wait too.
    if (chosen.length < waiting.length) break;
    const last = rows.at(-1);
    if (last && rows.length === pageSize) search.at = { dueAt: last.dueAt, id: last.id };
    else {
      // While texts were found, others may have got a job or a new time behind the search.
      if (!search.hasFound) returns.noneLeft();
      search = newSearch(search.outage);
      break;
    }
  }
  searches.set(returns, search);
}

/** Of one lane, those that are due first come first. */
const byLane = (one: db.PutOffSms, other: db.PutOffSms) =>
  smsLanes.indexOf(one.lane) - smsLanes.indexOf(other.lane) || one.dueAt.getTime() - other.dueAt.getTime();

/** Makes the texts due now, and sees to their jobs; returns how many were still waiting. */
async function makeDue(texts: db.PutOffSms[], parked: boolean): Promise<number> {
  const at = now();
  const changed = await db.updateSmsSooner(
    texts.map(({ id }) => id),
    parked,
    at,
  );
  if (changed === 0) return 0;
  for (const [lane, rows] of Map.groupBy(texts, (text) => text.lane)) {
    if (parked)
      await admission.refill(lane, [...new Set(rows.map(({ workspaceId }) => workspaceId))], 'sweep');
    else
      await admission.wakeSooner(
        lane,
        rows.map((row) => ({ ...row, ownerId: row.workspaceId, dueAt: at })),
        `-${at.getTime()}`,
      );
  }
  return changed;
}

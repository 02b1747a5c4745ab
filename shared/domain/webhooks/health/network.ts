import { LRUCache } from 'lru-cache';
import { now } from '../../../common/clock.ts';
import { forgetAtEnd } from '../../../common/closing.ts';
import { atMostEvery, logger } from '../../../common/logger.ts';
import { transaction } from '../../../db/client.ts';
import { deleteAged } from '../../../db/server/aged-rows.system.ts';
import { type HostEnd, listHostCounts, updateHosts } from '../../../db/webhooks/hosts.system.ts';

const minuteMs = 60_000;
const lookbackMs = 10 * minuteMs;
const fewestHosts = 20;
const suspectShare = 0.8;
const mostOfOne = 0.2;
const fewestWorkspaces = 3;
const keptMs = 24 * 60 * minuteMs;
const purgeBatchSize = 1_000;

/** When this process last wrote that a host was reached or failed. */
const writtenAt = new LRUCache<string, number>({ max: 20_000 });
forgetAtEnd(() => writtenAt.clear());

/** Notes which hosts of a workspace were reached and which failed: each at most once a minute from each process. */
export async function noteHosts(ends: readonly HostEnd[]): Promise<void> {
  const latest = new Map<string, HostEnd>();
  for (const end of ends) {
    const key = `${end.isSuccess} ${end.workspaceId} ${end.host}`;
    const known = latest.get(key);
    if (!known || known.endedAt < end.endedAt) latest.set(key, end);
  }
  const fresh = [...latest].filter(([key, { endedAt }]) => {
    const before = writtenAt.get(key);
    return before === undefined || Math.abs(endedAt.getTime() - before) >= minuteMs;
  });
  if (fresh.length === 0) return;
  await transaction(() => updateHosts(fresh.map(([, end]) => end)));
  for (const [key, { endedAt }] of fresh) writtenAt.set(key, endedAt.getTime());
}

/**
 * Returns whether so many hosts fail that the likelier cause is our own network (API decisions §6). A host counts once,
 * however many workspaces go to it. The hosts of one workspace count for a fifth at most, and three workspaces must have
 * failing hosts: one customer with many dead hosts says nothing about our network.
 */
export async function isSuspect(): Promise<boolean> {
  const workspaces = await listHostCounts(new Date(now().getTime() - lookbackMs));
  // The shares of a host add up to one, apart from rounding.
  const all = Math.round(workspaces.reduce((sum, { tried }) => sum + tried, 0));
  const failingWorkspaces = workspaces.filter(({ failing }) => failing > 0).length;
  if (all < fewestHosts || failingWorkspaces < fewestWorkspaces) return false;
  const most = all * mostOfOne;
  let [counted, failed] = [0, 0];
  for (const { tried, failing } of workspaces) {
    const weight = Math.min(1, most / tried);
    counted += tried * weight;
    failed += failing * weight;
  }
  // A tiny margin, as the weights are fractions and their sum is not exact.
  return failed > suspectShare * counted + 1e-9;
}

const mayAlarm = atMostEvery(minuteMs);

/** Returns whether a suspect network forbids warnings and switch-offs. Logs an error once in a while if it does. */
export async function holdsBack(): Promise<boolean> {
  if (!(await isSuspect())) return false;
  if (mayAlarm())
    logger.error('most hosts of webhooks fail: look at our own network; no webhook is switched off');
  return true;
}

export async function purgeHosts(): Promise<void> {
  await deleteAged('webhook_hosts', new Date(now().getTime() - keptMs), purgeBatchSize);
}

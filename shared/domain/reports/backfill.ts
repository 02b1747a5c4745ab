import { logger } from '../../common/logger.ts';
import { transaction } from '../../db/client.ts';
import { channels } from '../../db/reports/counts.ts';
import * as db from '../../db/reports/messages.system.ts';
import { hourOf, timeOf } from './pieces.ts';
import { firstKept, oldestKept, rebuildHour } from './rebuild.ts';

/**
 * Counts messages that are older than the reports and whose events are deleted. It works from the newest hour
 * backwards, for about `ms` milliseconds. If a kill interrupts an hour, the hour is counted again, which changes
 * nothing.
 */
export async function backfill(ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let hour = await db.findBackfill(); hour > 0 && performance.now() < end; )
    hour = await countHourBefore(hour);
}

async function countHourBefore(hour: number): Promise<number> {
  const start = await newestHourBefore(hour);
  if (start < hourOf(oldestKept())) {
    await db.updateBackfill(hour, 0);
    logger.info('the reports now count all stored messages');
    return 0;
  }
  const stretch = { from: timeOf(start), to: timeOf(start + 1) };
  for (const channel of channels)
    if (start >= firstKept(channel))
      for (const workspaceId of await db.listWorkspacesWithMessages(channel, stretch))
        await transaction(() => rebuildHour(workspaceId, channel, start));
  await db.updateBackfill(hour, start);
  return start;
}

/** Returns the newest hour before this one in which a message was accepted; 0 where there is none. */
async function newestHourBefore(hour: number): Promise<number> {
  let newest = 0;
  for (const channel of channels) {
    const found = await db.findNewestBefore(channel, timeOf(hour));
    if (found) newest = Math.max(newest, hourOf(found));
  }
  return Math.min(newest, hour - 1);
}

import { rowsOfBatch } from './content.ts';
import type { Run } from './line.ts';
import type { Sending, Sent } from './players/batch-sender.ts';
import type { Program, Servant } from './program.ts';
import { openWindow } from './usage.ts';
import type { World } from './world.ts';

export const senders = 2;
export const warmBatches = 10;
export const batches = 40;

/**
 * Sends batches of contacts: first some to warm up, then the measured ones. `first` is the number of each sender's
 * first batch; `beforeMeasured` runs between the two.
 */
export async function sendBatches(
  world: World,
  { web, sender }: { web: Program; sender: Servant },
  { warm = warmBatches, ...to }: Omit<Sending, 'senders'> & { warm?: number },
  beforeMeasured: () => Promise<void> = async () => undefined,
): Promise<Omit<Run, 'content'>> {
  const send = (first: number, count: number) =>
    sender.ask<Sent>('send', { ...to, senders, first, count } satisfies Sending);
  await send(to.first, warm);
  await beforeMeasured();
  const close = openWindow({ web: web.pid, sender: sender.pid, ...world.servers });
  const { ms, ...latency } = await send(to.first + warm, to.count);
  const window = close();
  window.seconds = ms / 1000;
  return { count: senders * to.count * rowsOfBatch, window, latency };
}

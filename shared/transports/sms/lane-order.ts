import { smsLanes } from '../../schemas/lanes.ts';
import type { TextMessage } from './gateway.ts';

/** Returns the place of a lane among the lanes, the most urgent first. A text without a lane is a single text. */
export const rankOf = (lane: TextMessage['lane'] = 'default'): number => smsLanes.indexOf(lane);

/** Puts an item that waits behind those that are as urgent, and before those that are less urgent. */
export function insertByRank<T extends { rank: number }>(waiting: T[], item: T): void {
  waiting.splice(waiting.findLastIndex(({ rank }) => rank <= item.rank) + 1, 0, item);
}

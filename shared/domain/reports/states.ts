import { setImmediate as nextTurn } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { type State, updateStates } from '../../db/reports/messages.system.ts';
import { decode, encode, type Facts } from './facts.ts';
import { nameAll } from './names.ts';
import { hourOf } from './pieces.ts';
import { newTally } from './tally.ts';

/** A message may be scheduled for three months ahead, and then take days until nothing about it changes any more. */
const afterRetentionDays = 100;

/** It is forgotten how messages of before were counted, so they are not counted again. */
export function statesUntil(): Date {
  const days = Math.max(config.EMAIL_RETENTION_DAYS, config.SMS_RETENTION_DAYS) + afterRetentionDays;
  return new Date(now().getTime() - days * 86_400_000);
}

/**
 * Counts these messages as they stand now, instead of as they were counted before (`states`, by their ids as latin1), and
 * remembers that.
 */
export async function storeChanges(
  messages: readonly Facts[],
  states: ReadonlyMap<string, string>,
): Promise<void> {
  const oldest = hourOf(statesUntil()) + 1;
  const changed = messages.flatMap((facts) => {
    const before = states.get(facts.id.toString('latin1'));
    const counted = encode(facts.channel, facts.standing);
    return before === counted || facts.hour < oldest ? [] : [{ facts, before, counted }];
  });
  if (changed.length === 0) return;
  const nameOf = await nameAll(changed.map(({ facts }) => facts));
  const kept = changed.map(
    ({ facts: { id, workspaceId }, counted }): State => ({ id, workspaceId, counted }),
  );
  const tally = newTally();
  // The server writes down how they are counted while they are.
  await Promise.all([
    updateStates(kept),
    nextTurn().then(() => {
      for (const { facts, before } of changed)
        tally.add(facts, before === undefined ? null : decode(before), nameOf);
    }),
  ]);
  await tally.store();
}

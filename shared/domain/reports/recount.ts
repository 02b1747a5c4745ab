import { setImmediate as nextTurn } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import type { Channel } from '../../db/reports/counts.ts';
import { type State, updateStates } from '../../db/reports/messages.system.ts';
import { decode, encode, type Facts } from './facts.ts';
import { nameAll } from './names.ts';
import { hourOf } from './pieces.ts';
import { newTally } from './tally.ts';

/** A message may be scheduled for three months ahead, and then take days until nothing about it changes any more. */
const afterRetentionDays = 100;

/**
 * Returns the time before which messages are not counted again: the states that say how they were counted are deleted.
 */
export function statesUntil(channel: Channel): Date {
  const kept = channel === 'email' ? config.EMAIL_RETENTION_DAYS : config.SMS_RETENTION_DAYS;
  const days = kept + afterRetentionDays;
  return new Date(now().getTime() - days * 86_400_000);
}

/** Messages that are counted anew in one transaction, which has the position of the reports locked. */
type Recounting = {
  /** Counts these messages in their present standing instead of the one counted before, and remembers the new one. */
  add(messages: readonly Facts[], counted: (facts: Facts) => string | undefined): Promise<void>;
  /** Adds all gathered changes to the stored counts. */
  store(): Promise<void>;
};

export function newRecounting(): Recounting {
  const oldest = { email: hourOf(statesUntil('email')) + 1, sms: hourOf(statesUntil('sms')) + 1 };
  const tally = newTally();
  // By message id as latin1. A message that changes twice may be read before its first change is stored.
  const remembered = new Map<string, string>();
  const storing: Promise<void>[] = [];
  return {
    async add(messages, counted) {
      const changed = messages.flatMap((facts) => {
        const key = facts.id.toString('latin1');
        const earlier = remembered.get(key) ?? counted(facts);
        const now = encode(facts.channel, facts.standing);
        if (earlier === now || facts.hour < oldest[facts.channel]) return [];
        remembered.set(key, now);
        return [{ facts, before: earlier === undefined ? null : decode(earlier), now }];
      });
      if (changed.length === 0) return;
      const nameOf = await nameAll(changed);
      const stored = updateStates(
        changed.map(({ facts: { id, workspaceId }, now }): State => ({ id, workspaceId, counted: now })),
      );
      // The promise is awaited only in `store`; until then its failure must not be unhandled.
      stored.catch(() => undefined);
      storing.push(stored);
      // Let the statement go out now: the database server stores the standings while this process counts.
      await nextTurn();
      for (const { facts, before } of changed) tally.add(facts, before, nameOf);
    },
    async store() {
      await Promise.all(storing);
      await tally.store();
    },
  };
}

import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import { listStates, type State, updateStates } from '../../db/system/report-messages.ts';
import { decode, encode, type Facts } from './facts.ts';
import { nameAll } from './names.ts';
import { hourOf } from './pieces.ts';
import type { Tally } from './tally.ts';

/** A message may be scheduled for three months ahead, and then take days until nothing about it changes any more. */
const afterRetentionDays = 100;

/** It is forgotten how messages of before were counted, so they are not counted again. */
export function statesUntil(): Date {
  const days = Math.max(config.EMAIL_RETENTION_DAYS, config.SMS_RETENTION_DAYS) + afterRetentionDays;
  return new Date(now().getTime() - days * 86_400_000);
}

/** Counts these messages as they stand now, instead of as they were counted before, and remembers that. */
export async function storeChanges(tally: Tally, messages: readonly Facts[]): Promise<void> {
  if (messages.length === 0) return;
  const states = await listStates(messages.map(({ id }) => id));
  const oldest = hourOf(statesUntil()) + 1;
  const changed = messages.flatMap((facts) => {
    const before = states.get(facts.id.toString('latin1'));
    const counted = encode(facts.channel, facts.standing);
    return before === counted || facts.hour < oldest ? [] : [{ facts, before, counted }];
  });
  const nameOf = await nameAll(changed.map(({ facts }) => facts));
  const kept: State[] = [];
  for (const { facts, before, counted } of changed) {
    if (before !== undefined) tally.add(facts, decode(before), -1, nameOf);
    tally.add(facts, facts.standing, 1, nameOf);
    kept.push({ id: facts.id, workspaceId: facts.workspaceId, counted });
  }
  await updateStates(kept);
  await tally.store();
}

import { forgetAtEnd } from '../../closing.ts';
import { afterCommit } from '../../db/client.ts';
import { findNameCount, insertNames, listNames, type Name } from '../../db/system/report-counts.ts';
import type { Facts } from './facts.ts';
import { startOf } from './pieces.ts';

/** So many of a workspace and day have a row of their own, so that nobody's made-up tags fill the tables. */
const mostNames: Record<Name['dimension'], number> = { tag: 1_000, recipient_domain: 500 };

/** The name under which all beyond that count together. Neither a tag nor a domain can have brackets. */
export const other = '(other)';

/** The name under which a tag or domain of a message counts. */
export type NameOf = (
  facts: Pick<Facts, 'workspaceId' | 'hour'>,
  dimension: Name['dimension'],
  name: string,
) => Buffer;

// Names are never taken back, so what is known to be stored stays so.
const known = new Set<string>();
const mostKnown = 200_000;
forgetAtEnd(() => known.clear());

const dayKey = ({ workspaceId, dimension, day }: Omit<Name, 'name'>) =>
  `${workspaceId.toString('latin1')} ${dimension} ${day}`;
const keyOf = (name: Name) => `${dayKey(name)} ${name.name}`;

/**
 * Gives the tags and recipient domains of these messages their names, in their order: those of a day that come first have
 * their own. The transaction has the position of the reports locked, so nobody else gives names.
 */
export async function nameAll(messages: readonly Facts[]): Promise<NameOf> {
  const asked = new Map<string, Name>();
  const own = new Set<string>();
  for (const { workspaceId, hour, tag, places } of messages) {
    const day = startOf('day', hour);
    const domain = places.recipient_domain?.toString() ?? '';
    for (const name of [
      { workspaceId, dimension: 'tag', day, name: tag },
      { workspaceId, dimension: 'recipient_domain', day, name: domain },
    ] as const)
      if (known.has(keyOf(name))) own.add(keyOf(name));
      else if (name.name !== '') asked.set(keyOf(name), name);
  }
  for (const name of await listNames([...asked.values()])) own.add(keyOf(name));
  const missing = [...asked.values()].filter((name) => !own.has(keyOf(name)));
  const made: Name[] = [];
  for (const ofDay of Map.groupBy(missing, dayKey).values()) {
    const [first] = ofDay;
    const room = Math.max(0, mostNames[first!.dimension] - (await findNameCount(first!)));
    made.push(...ofDay.slice(0, room));
  }
  await insertNames(made);
  for (const name of made) own.add(keyOf(name));
  afterCommit(() => {
    if (known.size > mostKnown) known.clear();
    for (const key of own) known.add(key);
  });
  return ({ workspaceId, hour }, dimension, name) => {
    if (name === '') return Buffer.alloc(0);
    const key = keyOf({ workspaceId, dimension, day: startOf('day', hour), name });
    return Buffer.from(own.has(key) ? name : other);
  };
}

import { LRUCache } from 'lru-cache';
import { forgetAtEnd } from '../../common/closing.ts';
import { afterCommit } from '../../db/client.ts';
import { findNameCount, insertNames, listNames, type Name } from '../../db/reports/counts.system.ts';
import { type Facts, isStorable, other, type Standing } from './facts.ts';
import { startOf } from './pieces.ts';

/**
 * This many names of a workspace and day have a row of their own, so that neither made-up tags nor the made-up error
 * codes of a carrier fill the tables.
 */
const mostNames: Record<Name['dimension'], number> = { tag: 1_000, recipient_domain: 500, error_code: 200 };

/** The name under which a tag, a domain or an error code of a message counts. */
export type NameOf = (
  facts: Pick<Facts, 'workspace' | 'hour'>,
  dimension: Name['dimension'],
  name: string,
) => string;

type Names = Set<string>;

/** The names that are known to be stored, by workspace, dimension and day. A name is deleted only by retention. */
const known = new LRUCache<string, Names>({ maxSize: 200_000, sizeCalculation: ({ size }) => size + 1 });
forgetAtEnd(() => known.clear());

/** A day of a workspace: `own` are names that are known to be stored, `asked` are names to look for. */
type Day = Omit<Name, 'name'> & { key: string; own: Names | undefined; asked: Names };

/** A message, and the standing that it was last counted with. */
type CountedMessage = { facts: Facts; before: Standing | null };

/**
 * Decides under which names the tags, recipient domains and error codes of these messages count. The first ones of a
 * day keep their own name, and the others count as `other`. The transaction has locked the position of the reports, so
 * no other process decides at the same time.
 */
export async function nameAll(messages: readonly CountedMessage[]): Promise<NameOf> {
  const days = new Map<string, Day>();
  const ask = ({ workspaceId, workspace, hour }: Facts, dimension: Name['dimension'], name: string) => {
    if (name === '') return;
    const key = keyOf(workspace, hour, dimension);
    let day = days.get(key);
    if (!day) {
      day = { workspaceId, dimension, day: startOf('day', hour), key, own: known.get(key), asked: new Set() };
      days.set(key, day);
    }
    if (!day.own?.has(name) && isStorable(name)) day.asked.add(name);
  };
  for (const { facts, before } of messages) {
    ask(facts, 'tag', facts.tag);
    ask(facts, 'error_code', facts.standing.errorCode);
    if (before) ask(facts, 'error_code', before.errorCode);
    for (const [dimension, value] of facts.places)
      if (dimension === 'recipient_domain') ask(facts, dimension, value);
  }
  const found = await nameNew([...days.values()].filter(({ asked }) => asked.size > 0));
  return ({ workspace, hour }, dimension, name) => {
    if (name === '') return name;
    const key = keyOf(workspace, hour, dimension);
    return days.get(key)?.own?.has(name) || found.get(key)?.has(name) ? name : other;
  };
}

/**
 * Stores new names up to the limit of names for a day. Returns the names of these days that are stored, old and new.
 */
async function nameNew(days: Day[]): Promise<Map<string, Names>> {
  const found = new Map(days.map(({ key }): [string, Names] => [key, new Set()]));
  const asked = days.flatMap(({ asked, workspaceId, dimension, day }) =>
    [...asked].map((name): Name => ({ workspaceId, dimension, day, name })),
  );
  for (const { workspaceId, dimension, day, name } of await listNames(asked))
    found.get(`${workspaceId.toString('latin1')} ${dimension} ${day}`)!.add(name);
  const made: Name[] = [];
  for (const { key, asked, ...day } of days) {
    const missing = [...asked].filter((name) => !found.get(key)!.has(name));
    if (missing.length === 0) continue;
    const { workspaceId, dimension } = day;
    const room = Math.max(0, mostNames[dimension] - (await findNameCount(day)));
    for (const name of missing.slice(0, room)) {
      made.push({ workspaceId, dimension, day: day.day, name });
      found.get(key)!.add(name);
    }
  }
  await insertNames(made);
  afterCommit(() => {
    // A set of its own: a caller that holds the one before must not see it change.
    for (const [key, names] of found) known.set(key, new Set([...(known.get(key) ?? []), ...names]));
  });
  return found;
}

const keyOf = (workspace: string, hour: number, dimension: Name['dimension']) =>
  `${workspace} ${dimension} ${startOf('day', hour)}`;

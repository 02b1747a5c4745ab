import {
  findCodeTimes,
  findCodeTimesForUpdate,
  updateCodeTimes,
} from '../../db/senders/code-counts.system.ts';

/** How many codes go out, so that nobody's phone is flooded, and nobody floods the phones of others. */

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type Rule = { most: number; withinMs: number };
/** These limits count the codes of all workspaces together, because they protect the owner of the number. */
const toNumber: Rule[] = [
  { most: 3, withinMs: hourMs },
  { most: 6, withinMs: dayMs },
];
/** A workspace can name ever new numbers, and each text costs the platform. */
const ofWorkspace: Rule[] = [{ most: 50, withinMs: dayMs }];

type LimitedSubject = { subject: string; rules: Rule[] };

function countedOf(workspaceId: string, number: string): LimitedSubject[] {
  return [
    { subject: number, rules: toNumber },
    { subject: workspaceId.slice(-26), rules: ofWorkspace },
  ];
}

/**
 * Counts a code in the current transaction and returns 0. Where the limits allow none now, counts nothing and returns
 * how many milliseconds there are until the next.
 */
export async function takeCode(workspaceId: string, number: string, at: Date): Promise<number> {
  const all: (LimitedSubject & { times: Date[] })[] = [];
  for (const counted of countedOf(workspaceId, number))
    all.push({ ...counted, times: recent(await findCodeTimesForUpdate(counted.subject, at), at) });
  const waitMs = Math.max(...all.map((counted) => waitOf(counted, at)));
  if (waitMs > 0) return waitMs;
  for (const { subject, times } of all) await updateCodeTimes(subject, [...times, at], at);
  return 0;
}

/** Returns whether `takeCode` would count a code now. Counts and locks nothing. */
export async function mayTakeCode(workspaceId: string, number: string, at: Date): Promise<boolean> {
  for (const { subject, rules } of countedOf(workspaceId, number))
    if (waitOf({ rules, times: recent(await findCodeTimes(subject), at) }, at) > 0) return false;
  return true;
}

function waitOf({ rules, times }: { rules: Rule[]; times: Date[] }, at: Date): number {
  const ends = rules.map(({ most, withinMs }) => {
    const nth = times.at(-most);
    return nth ? nth.getTime() + withinMs - at.getTime() : 0;
  });
  return Math.max(0, ...ends);
}

/** Takes back the count of a code that never went out. */
export async function giveCodeBack(
  workspaceId: string,
  number: string,
  takenAt: Date,
  at: Date,
): Promise<void> {
  for (const { subject } of countedOf(workspaceId, number)) {
    const times = recent(await findCodeTimesForUpdate(subject, at), at);
    const index = times.findIndex((time) => time.getTime() === takenAt.getTime());
    if (index >= 0) await updateCodeTimes(subject, times.toSpliced(index, 1), at);
  }
}

function recent(times: Date[], at: Date): Date[] {
  return times.filter((time) => time.getTime() > at.getTime() - dayMs);
}

import { fromNow, now } from '../../common/clock.ts';
import { Problem, problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import { open, seal } from '../../common/secrets.ts';
import { beforeFirstStatement } from '../../db/client.ts';
import * as db from '../../db/requests/idempotency.ts';
import { admitLargeAnswer, keptMs } from './large-answers.ts';

/** One request under an Idempotency-Key. A rotated API key keeps its lineage. */
type Attempt = { workspaceId: string; lineageId: string; key: string; fingerprint: Buffer };

/** The answer to a first request: replayed byte for byte. */
export type StoredAnswer = { status: number; location: string | null; body: string | null };

/** `answer`: the answer when the transaction commits. `ending`: work after the commit, whose answer replaces it. */
export type RequestOutcome = { answer: StoredAnswer; ending: AnswerEnding | null };
type AnswerEnding = { withinMs: number; finish: () => Promise<StoredAnswer | Problem> };

type Once = { answer: StoredAnswer; isReplayed: boolean };
type Transaction = <T>(work: () => Promise<T>) => Promise<T>;

const tries = 3;
/** The time that a request takes besides the wait that it has announced. */
const slackMs = 10_000;

/** The keys of requests that this process works on, so that two requests with one key need not meet in the database. */
const inFlight = new Set<string>();

/**
 * Answers a request once for its key: with the stored answer of the first request, or else with the work that `prepare`
 * returns. The work runs in the transaction that stores its answer, so both are committed or neither is. `prepare` runs
 * after the look-up: a value that was valid the first time, such as a time, may be invalid by now.
 */
export async function once(
  attempt: Attempt,
  prepare: () => Promise<() => Promise<RequestOutcome>>,
  transaction: Transaction,
): Promise<Once> {
  const owner = ownerOf(attempt);
  if (inFlight.has(owner)) throw inProgress();
  const known = await findAnswer(attempt);
  if (known) return replay(known);
  if (inFlight.has(owner)) throw inProgress();
  inFlight.add(owner);
  try {
    let work: () => Promise<RequestOutcome>;
    try {
      work = await prepare();
    } catch (error) {
      // Another process may have done the same request meanwhile, and that may be why this one is refused.
      const found = await findAnswer(attempt);
      if (found) return replay(found);
      throw error;
    }
    return await perform(attempt, work, transaction);
  } finally {
    inFlight.delete(owner);
  }
}

async function perform(
  attempt: Attempt,
  work: () => Promise<RequestOutcome>,
  transaction: Transaction,
): Promise<Once> {
  for (let round = 1; round <= tries; round += 1) {
    try {
      const kept = await transaction(() => keepAnswer(attempt, work));
      return { answer: await finishKept(attempt, kept), isReplayed: false };
    } catch (error) {
      if (error !== taken) throw error;
    }
    const found = await findAnswer(attempt);
    if (found) return replay(found);
    const { workspaceId, lineageId, key } = attempt;
    await db.deleteExpiredRecord(workspaceId, lineageId, key, now());
  }
  throw inProgress();
}

/** Thrown through the transaction, so that it is rolled back. */
const taken = new Error('Another request has committed this Idempotency-Key');

/**
 * Runs the work and stores its answer. Work that reads or changes anything inserts the key first, because the key's
 * row is the lock. Work that only adds rows of its own needs no lock: the key is inserted beside these rows, with the
 * answer, and a second request adds nothing.
 */
async function keepAnswer(attempt: Attempt, work: () => Promise<RequestOutcome>): Promise<Kept> {
  const { workspaceId, lineageId, key, fingerprint } = attempt;
  const expiresAt = fromNow(keptMs);
  let isLocked = false;
  await beforeFirstStatement(async () => {
    isLocked = true;
    const outcome = await db.insertRecord(workspaceId, lineageId, key, { fingerprint, expiresAt });
    if (outcome === 'taken') throw taken;
    if (outcome === 'locked') throw inProgress();
  });
  const { answer, ending } = await work();
  const until = ending && fromNow(ending.withinMs + slackMs);
  const sealed = seal(ownerOf(attempt), encode(answer, until));
  admitLargeAnswer(workspaceId, sealed.length);
  if (isLocked) await db.updateAnswer(workspaceId, lineageId, key, sealed);
  else await db.insertAnswered(workspaceId, lineageId, key, { fingerprint, answer: sealed, expiresAt });
  return { answer, ending, until };
}

/**
 * Until `until`, the stored answer of an unfinished request is not replayed: the key is in progress. From then on it
 * is the answer, because the process that was to finish the request must have died.
 */
type Kept = RequestOutcome & { until: Date | null };

/** Returns the final answer for the caller; throws it if it is a problem. */
export async function finish(outcome: RequestOutcome): Promise<StoredAnswer> {
  const ended = await end(outcome);
  if (ended instanceof Problem) throw ended;
  return ended;
}

async function end({ answer, ending }: RequestOutcome): Promise<StoredAnswer | Problem> {
  if (!ending) return answer;
  try {
    return await ending.finish();
  } catch (error) {
    logger.warn(
      { err: error },
      'the last step of a request failed; the answer shows what was committed before',
    );
    return answer;
  }
}

async function finishKept(attempt: Attempt, { until, ...outcome }: Kept): Promise<StoredAnswer> {
  const answer = await end(outcome);
  if (answer instanceof Problem) {
    await forget(attempt);
    throw answer;
  }
  if (until === null) return answer;
  const { workspaceId, lineageId, key } = attempt;
  try {
    if (now() < until) {
      await db.updateAnswer(workspaceId, lineageId, key, seal(ownerOf(attempt), encode(answer, null)));
      return answer;
    }
  } catch (error) {
    logger.warn({ err: error }, 'the answer for an Idempotency-Key could not be stored');
  }
  return outcome.answer;
}

/** Frees the key of a request that was refused after its commit, so that the caller can send it again. */
async function forget({ workspaceId, lineageId, key }: Attempt): Promise<void> {
  try {
    await db.deleteRecord(workspaceId, lineageId, key);
  } catch (error) {
    logger.warn({ err: error }, 'the Idempotency-Key of a refused request could not be freed');
  }
}

/** Returns the answer that the first request of this key got; null when this is the first. */
async function findAnswer(attempt: Attempt): Promise<StoredAnswer | null> {
  const { workspaceId, lineageId, key, fingerprint } = attempt;
  const record = await db.findRecord(workspaceId, lineageId, key, now());
  if (record === null) return null;
  if (record === 'locked') throw inProgress();
  if (!record.fingerprint.equals(fingerprint)) throw problem('idempotency_key_reused');
  if (record.answer === null) throw inProgress();
  const { until, ...answer } = decode(open(ownerOf(attempt), record.answer));
  if (until !== null && now() < until) throw inProgress();
  return answer;
}

function replay(answer: StoredAnswer): Once {
  return { answer, isReplayed: true };
}

function inProgress(): Problem {
  return problem('idempotency_in_progress', { retryAfterSeconds: 1 });
}

/** Returns a unique name for a key: ids have a fixed length and no spaces. */
function ownerOf({ workspaceId, lineageId, key }: Attempt): string {
  return `${workspaceId} ${lineageId} ${key}`;
}

/** The body stays as it is, so that the replay has the same bytes. */
function encode({ status, location, body }: StoredAnswer, until: Date | null): string {
  return `${JSON.stringify({ status, location, ...(until && { until }) })}\n${body ?? ''}`;
}

function decode(text: string): StoredAnswer & { until: Date | null } {
  const end = text.indexOf('\n');
  const { status, location, until } = JSON.parse(text.slice(0, end));
  return { status, location, body: text.slice(end + 1) || null, until: until ? new Date(until) : null };
}

import { type ErrorCode, problem } from '../../common/errors.ts';
import { isDuplicateKey } from '../../db/client.ts';

/** Refusals that several resources share. */

/** Waits until a record is written. Throws a problem with this code where another record has its name or number. */
export async function orTaken<Written>(
  writing: Promise<Written>,
  code: ErrorCode,
  detail?: string,
): Promise<Written> {
  try {
    return await writing;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw problem(code, detail === undefined ? {} : { detail });
  }
}

/** Refuses one more record where the workspace has `most` of them. `what` names the records in the plural. */
export function refuseOneMore(
  count: number,
  most: number,
  what: string,
  advice = 'Delete one that you no longer need',
): void {
  if (count < most) return;
  throw problem('limit_exceeded', { detail: `A workspace may have at most ${most} ${what}. ${advice}` });
}

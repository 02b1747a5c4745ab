import { now } from '../../common/clock.ts';
import { invalid, orNotFound, problem } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Sender } from '../../schemas/senders.ts';
import { mostTries, receiverOf } from './code.ts';
import { withDefault } from './default.ts';
import { isUnproven, statusOf, toWire } from './record.ts';

/**
 * Counts a try at a code, right or wrong. The count is committed before the code is checked, because a refusal rolls
 * back its own transaction and must leave the try counted. So even simultaneous requests cannot have more tries than
 * the code allows.
 */
export async function tryCode(caller: Caller, id: string): Promise<void> {
  const { workspaceId } = caller;
  if (!(await db.findSender(workspaceId, id))) throw problem('not_found');
  if (!(await db.updateSenderTries(workspaceId, id, now(), mostTries))) throw unfit();
}

/** Approves the sender if the code is right, in the current transaction. */
export async function verify(caller: Caller, id: string, digits: string): Promise<Sender> {
  const { workspaceId } = caller;
  await findWorkspaceForUpdate(workspaceId);
  const known = orNotFound(await db.findSenderForUpdate(workspaceId, id));
  const receiver = receiverOf(known, digits);
  const isDue = known.status === 'awaiting_verification' || (isUnproven(known) && receiver === 'phone');
  if (receiver === null || !isDue) throw unfit();
  const countries = known.countries.map((country) =>
    country.status === 'pending' ? { ...country, status: 'approved' as const } : country,
  );
  const code = receiver === 'simulator' ? known.code : null;
  const sender = await withDefault({ ...known, status: statusOf(countries), code, countries });
  await db.updateSenderCountries(workspaceId, id, countries);
  await db.updateSender(workspaceId, sender);
  return toWire(sender);
}

/** Makes one answer for all causes: a caller that guesses does not learn how close it is. */
function unfit() {
  return invalid(
    'code',
    'is wrong or has expired; request the sender again (POST /v2/senders) to get a new code',
  );
}

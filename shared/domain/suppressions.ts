import { now } from '../common/clock.ts';
import { orNotFound, problem } from '../common/errors.ts';
import {
  checked,
  Faults,
  faultsIn,
  isUnusable,
  orRefuse,
  type Refuse,
  type Usable,
} from '../common/faults.ts';
import type { Page } from '../db/client/listing.ts';
import { isDuplicateKey } from '../db/client.ts';
import type { EmailRecord } from '../db/email/emails.ts';
import * as db from '../db/suppressions.ts';
import { addressOf, compareKey, parseMailbox } from '../formats/email/address.ts';
import { newId } from '../formats/ids.ts';
import { parseFilterNumber, parsePhoneNumber } from '../formats/sms/phone-number.ts';
import type { Caller } from '../schemas/scopes.ts';
import {
  type NewSuppression,
  Suppression,
  type SuppressionFilter,
  type SuppressionScope,
  type SuppressionSource,
} from '../schemas/suppressions.ts';
import * as events from './events/events.ts';
import { type CursorPage, mapPage, searchedPage } from './requests/keyset-pages.ts';
import { wireOf } from './requests/wire.ts';

/** The suppression list: recipients that must not be sent to, for callers and for the platform itself. */

/** A recipient that must not be sent to: a number, or an address with the scope that it blocks. */
type Suppressed =
  | { number: string; email: null }
  | { number: null; email: string; emailKey: string; scope: SuppressionScope };

type SuppressionOutcome = { suppression: Suppression; isNew: boolean };

/** Adds an entry by request; returns the existing entry where there is one (API decisions §4). */
export async function create(caller: Caller, request: NewSuppression): Promise<SuppressionOutcome> {
  const suppressed = await checked((refuse) => suppressedOf(request, refuse));
  return add(caller.workspaceId, suppressed!, 'api', request.reason ?? null);
}

/**
 * Adds the entry and its event, in the current transaction; an entry that exists already is returned as it is. Two
 * requests at once for the same number or address make one entry.
 */
export async function add(
  workspaceId: string,
  suppressed: Suppressed,
  source: SuppressionSource,
  reason: string | null,
): Promise<SuppressionOutcome> {
  const known = await findSame(workspaceId, suppressed);
  const kept = known && (await keep(workspaceId, known, source));
  if (kept) return kept;
  const createdAt = now();
  const record: db.SuppressionRecord = {
    id: newId('suppression', createdAt),
    workspaceId,
    number: suppressed.number,
    email: suppressed.email,
    emailKey: suppressed.number === null ? suppressed.emailKey : null,
    scope: suppressed.number === null ? suppressed.scope : 'all',
    source,
    reason,
    createdAt,
  };
  try {
    await db.insertSuppression(workspaceId, record);
  } catch (error) {
    const winner = isDuplicateKey(error) ? await findSame(workspaceId, suppressed) : null;
    const won = winner && (await keep(workspaceId, winner, source));
    if (!won) throw error;
    return won;
  }
  const suppression = toWire(record);
  await events.record(
    workspaceId,
    events.make('suppression.created', { id: record.id, seq: 1, data: suppression }, createdAt),
  );
  return { suppression, isNew: true };
}

/**
 * The sources of a suppression that come from the recipient's side. Marketing never overrides them (API decisions §7),
 * so they replace the customer's own source. For a number, that source is a STOP, which a START lifts (API decisions
 * §8).
 */
const binding: readonly SuppressionSource[] = ['web', 'complaint', 'bounce'];

/**
 * Keeps an entry that exists already. Returns null where a source other than the customer finds it deleted: a recipient
 * must not go without an entry because the customer deletes an older one at this moment.
 */
async function keep(
  workspaceId: string,
  found: db.SuppressionRecord,
  source: SuppressionSource,
): Promise<SuppressionOutcome | null> {
  const known = source === 'api' ? found : await db.findSuppressionForUpdate(workspaceId, found.id);
  if (!known) return null;
  const isBound =
    known.email === null
      ? known.source !== 'api' || source !== 'stop'
      : binding.includes(known.source) || !binding.includes(source);
  if (!isBound) await db.updateSuppressionSource(workspaceId, known.id, source);
  return { suppression: toWire(isBound ? known : { ...known, source }), isNew: false };
}

/** Suppresses the recipient of an email, because of the email's outcome or by the recipient's own request. */
export function addRecipient(
  { workspaceId, recipient, recipientKey }: Pick<EmailRecord, 'workspaceId' | 'recipient' | 'recipientKey'>,
  scope: SuppressionScope,
  source: SuppressionSource,
  reason: string,
): Promise<SuppressionOutcome> {
  const email = addressOf(recipient);
  return add(workspaceId, { number: null, email, emailKey: recipientKey, scope }, source, reason);
}

function findSame(workspaceId: string, suppressed: Suppressed): Promise<db.SuppressionRecord | null> {
  return suppressed.number === null
    ? db.findSuppressionOfEmail(workspaceId, suppressed.emailKey, suppressed.scope)
    : db.findSuppressionOfNumber(workspaceId, suppressed.number);
}

/** Returns the faults for which `create` would refuse a request, as far as its fields can be used. */
export const faultsOfNew = (request: Usable<NewSuppression>) =>
  faultsIn((refuse) => suppressedOf(request, refuse));

/** Returns the recipient that a request means; null after `refuse`. */
function suppressedOf(request: Usable<NewSuppression>, refuse: Refuse): Suppressed | null {
  const { number, email, scope } = request;
  const isKnown = () => !isUnusable(request, 'number') && !isUnusable(request, 'email');
  if ((number == null) === (email == null) && isKnown())
    for (const field of ['number', 'email'])
      refuse(
        field,
        number == null
          ? 'is missing: give number or email'
          : 'cannot be combined: give either number or email',
      );
  const parsed = number == null ? null : orRefuse(parsePhoneNumber(number), 'number', refuse);
  const emailKey = email == null ? null : emailKeyOf(email, refuse);
  // A suppressed number is sent nothing, whatever the scope says (API decisions §4).
  if (parsed) return { number: parsed.number, email: null };
  return emailKey === null ? null : { number: null, email: email!, emailKey, scope: scope ?? 'all' };
}

/**
 * The schema's limit for a typed address, applied to its key too: punycode can be longer than the letters that it
 * stands for.
 */
const longestKey = 320;

function emailKeyOf(text: string, refuse: Refuse): string | null {
  const parsed = orRefuse(parseMailbox(text, { allowDisplayName: false, isSent: false }), 'email', refuse);
  if (!parsed) return null;
  const key = compareKey(parsed.mailbox.address);
  if (key.length <= longestKey) return key;
  refuse('email', `must be at most ${longestKey} characters with its domain in punycode`);
  return null;
}

/** Returns the faults for which `list` would refuse a request, as far as its parameters can be used. */
export const faultsOfFilter = (filter: Usable<SuppressionFilter>) =>
  faultsIn((refuse) => recipientOf(filter, refuse));

/** Returns the recipient that a filter names, as it is stored. */
function recipientOf({ number, email }: Usable<SuppressionFilter>, refuse: Refuse) {
  return {
    number: number === undefined ? undefined : orRefuse(parseFilterNumber(number), 'number', refuse)?.number,
    emailKey: email === undefined ? undefined : (emailKeyOf(email, refuse) ?? undefined),
  };
}

export async function list(caller: Caller, query: SuppressionFilter): Promise<CursorPage<Suppression>> {
  const { scope, source, limit, cursor } = query;
  const faults = new Faults();
  const filter = { ...recipientOf(query, faults.refuse), scope, source };
  const binding = { workspaceId: caller.workspaceId, listing: 'suppressions', filter };
  const search = (range: Page) => db.listSuppressions(caller.workspaceId, filter, range);
  return mapPage(searchedPage(binding, { limit, cursor }, search, faults), (found) => found.map(toWire));
}

export async function find(caller: Caller, id: string): Promise<Suppression> {
  const record = orNotFound(await db.findSuppression(caller.workspaceId, id));
  return toWire(record);
}

/** Deletes a suppression that a STOP text made, and no other suppression. */
export async function liftStop(workspaceId: string, number: string): Promise<void> {
  const known = await db.findSuppressionOfNumber(workspaceId, number);
  if (known?.source === 'stop') await db.deleteSuppression(workspaceId, known.id);
}

export async function remove(caller: Caller, id: string): Promise<void> {
  if (!(await db.deleteSuppression(caller.workspaceId, id))) throw problem('not_found');
}

function toWire(record: db.SuppressionRecord): Suppression {
  return wireOf(Suppression, record);
}

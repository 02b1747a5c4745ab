import { now } from '../../common/clock.ts';
import { orNotFound, problem } from '../../common/errors.ts';
import { checked, faultsIn, orRefuse, type Refuse, type Usable } from '../../common/faults.ts';
import { findBusinessProfile } from '../../db/senders/business-profiles.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { isCountry } from '../../formats/country.ts';
import { isId } from '../../formats/ids.ts';
import { parseSenderName } from '../../formats/sms/sender-name.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { NewSender, Sender, SenderCountryStatus } from '../../schemas/senders.ts';
import { refuseOneMore } from '../requests/refusals.ts';
import { makeCode, type UnsentCode } from './code.ts';
import { awaitsCode, isMobile, newSender, statusOf, toWire } from './record.ts';

export const mostSenders = 500;

/** `unsent`: a code that is to be texted once this is committed. */
export type Requested = { sender: Sender; isNew: boolean; unsent: UnsentCode | null };

/**
 * Asks for a sender, or for more countries of one, or for another code, in the current transaction (API decisions §4).
 */
export async function request(caller: Caller, body: NewSender): Promise<Requested> {
  const { workspaceId } = caller;
  // With the lock, these rules hold for simultaneous requests too: one mobile number at a time, one default, and the
  // cap.
  const workspace = orNotFound(await findWorkspaceForUpdate(workspaceId));
  const found = await checked((refuse) => check(workspaceId, body, refuse));
  const [name, profile] = [found.name!, found.profile];
  const countries = [...new Set(body.countries ?? [workspace.country])].toSorted();
  const known = await db.findSenderByKey(workspaceId, name.key);
  if (known) return again(known, countries);
  const record = newSender({
    workspaceId,
    kind: 'sender_name',
    name: name.name,
    nameKey: name.key,
    status: 'pending',
    sampleContent: body.sampleContent,
    businessProfileId: profile?.id ?? null,
    countries: await countriesOf(workspaceId, name.key, countries, 'pending'),
  });
  record.status = statusOf(record.countries);
  if (record.status === 'rejected') throw rejected(name.name, record.countries);
  if (name.isMobile) return first(record);
  if (profile?.status === 'unverified') record.status = 'awaiting_business_verification';
  await checkCap(workspaceId);
  await db.insertSender(workspaceId, record);
  return { sender: toWire(record), isNew: true, unsent: null };
}

/** A mobile number must be verified first; the review of the sender starts after that. */
async function first(record: db.SenderRecord): Promise<Requested> {
  const { workspaceId } = record;
  const waiting = await db.findSenderAwaitingCode(workspaceId);
  if (waiting)
    throw problem('sender_awaiting_verification', {
      detail: `The sender ${waiting.name} (${waiting.id}) awaits verification. Verify or cancel it first`,
    });
  await checkCap(workspaceId);
  const { code, unsent } = await makeCode(record, { isNew: true });
  const sender: db.SenderRecord = { ...record, status: 'awaiting_verification', code };
  await db.insertSender(workspaceId, sender);
  return { sender: toWire(sender), isNew: true, unsent };
}

async function again(known: db.SenderRecord, asked: readonly string[]): Promise<Requested> {
  const { workspaceId } = known;
  if (known.status === 'rejected') throw rejected(known.name!, known.countries);
  const has = new Set(known.countries.map(({ country }) => country));
  // The owner of a number, once proven, is proven for every country.
  const status = isMobile(known) && known.status !== 'awaiting_verification' ? 'approved' : 'pending';
  const added = await countriesOf(
    workspaceId,
    known.nameKey!,
    asked.filter((country) => !has.has(country)),
    status,
  );
  // Rejections of this sender, or of a deleted sender of its name. If all that was asked for is rejected, nothing is
  // left to ask for.
  const rejections = [...known.countries, ...added].filter(
    ({ country, status }) => asked.includes(country) && status === 'rejected',
  );
  if (rejections.length === asked.length) throw rejected(known.name!, rejections);
  await db.insertSenderCountries(workspaceId, known.id, added, now());
  const countries = [...known.countries, ...added].toSorted((one, other) =>
    one.country < other.country ? -1 : 1,
  );
  const sender = { ...known, countries };
  if (!awaitsCode(known)) return { sender: toWire(sender), isNew: false, unsent: null };
  // The lock shows all tries so far: they do not wait for the lock of the workspace, and the code may become good again.
  const locked = orNotFound(await db.findSenderForUpdate(workspaceId, known.id));
  const { code, unsent } = await makeCode(locked, { isNew: false });
  await db.updateSender(workspaceId, { ...sender, code });
  return { sender: toWire(sender), isNew: false, unsent };
}

/** A rejection stays valid when the sender is deleted, and applies to a new sender of the same name. */
async function countriesOf(
  workspaceId: string,
  nameKey: string,
  countries: readonly string[],
  status: SenderCountryStatus,
): Promise<db.CountryRecord[]> {
  const rejections = await db.listSenderRejections(workspaceId, nameKey);
  return countries.map(
    (country) =>
      rejections.find((rejection) => rejection.country === country) ?? { country, status, reason: null },
  );
}

/** The faults for which `request` would refuse a request, as far as the fields can be used. */
export const faultsOf = ({ workspaceId }: Caller, body: Usable<NewSender>) =>
  faultsIn((refuse) => check(workspaceId, body, refuse));

async function check(workspaceId: string, body: Usable<NewSender>, refuse: Refuse) {
  const name = body.name === undefined ? null : orRefuse(parseSenderName(body.name), 'name', refuse);
  for (const [index, country] of (body.countries ?? []).entries())
    if (country !== undefined && !isCountry(country))
      refuse(`countries[${index}]`, 'must be a country code of ISO 3166-1 alpha-2, such as GB');
  const { businessProfileId } = body;
  const needsProfile = businessProfileId != null && !name?.isMobile;
  const canBeFound = needsProfile && isId('profile', businessProfileId);
  const profile = canBeFound ? await findBusinessProfile(workspaceId, businessProfileId) : null;
  if (needsProfile && !profile)
    refuse('businessProfileId', 'must be the id of a business profile of this workspace');
  return { name, profile };
}

async function checkCap(workspaceId: string): Promise<void> {
  const count = await db.findSenderCount(workspaceId);
  refuseOneMore(count, mostSenders, 'senders', 'Cancel one that you no longer need');
}

function rejected(name: string, countries: readonly db.CountryRecord[]) {
  const [known] = countries.filter(({ reason }) => reason !== null);
  return problem('sender_rejected', {
    detail: `The sender ${name} was rejected before${known ? `: ${known.reason}` : ''}`,
  });
}

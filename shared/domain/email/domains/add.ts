import { now } from '../../../common/clock.ts';
import { invalid, problem } from '../../../common/errors.ts';
import { seal } from '../../../common/secrets.ts';
import * as db from '../../../db/email/domains.ts';
import { findWorkspaceForUpdate } from '../../../db/workspace/workspaces.ts';
import type { DkimKey } from '../../../formats/email/dkim.ts';
import { asciiDomain } from '../../../formats/email/domain-name.ts';
import { newId } from '../../../formats/ids.ts';
import { generateInTurn } from '../../../key-generation/key-generation.ts';
import type { EmailDomain, NewEmailDomain } from '../../../schemas/email/domains.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { orTaken, refuseOneMore } from '../../requests/refusals.ts';
import { toWire } from './records.ts';
import { firstCheckDue } from './status.ts';

const maxDomains = 50;
/** With the selector and the labels before it, a name must still fit into the 253 characters of DNS. */
const maxNameLength = 225;

type PreparedDomain = { name: string; key: DkimKey };

/** Makes the key, which takes a while. Throws before that if the request would be refused anyway. */
export async function makeKey(caller: Caller, request: NewEmailDomain): Promise<PreparedDomain> {
  const name = nameOf(request.name);
  if (await db.findEmailDomainByName(caller.workspaceId, name))
    throw problem('name_taken', { detail: takenDetail(name) });
  await checkCap(caller.workspaceId);
  return { name, key: await generateInTurn(caller.workspaceId) };
}

export async function add(caller: Caller, { name, key }: PreparedDomain): Promise<EmailDomain> {
  // Lock the workspace, so that two requests at once cannot both add the last domain that fits.
  await findWorkspaceForUpdate(caller.workspaceId);
  await checkCap(caller.workspaceId);
  const createdAt = now();
  const record: db.EmailDomainRecord = {
    ...newRecord(caller.workspaceId, name, key, createdAt),
    status: 'pending',
    checkDueAt: firstCheckDue(createdAt),
  };
  await insert(record);
  return toWire(record);
}

/**
 * Adds a domain with the given DKIM key, or else a new one. The operator vouches for the domain, so it may send at
 * once, whatever its DNS says.
 */
export async function addVerified(
  workspaceId: string,
  typedName: string,
  key?: PreparedDomain['key'],
): Promise<db.EmailDomainRecord> {
  const name = nameOf(typedName);
  const time = now();
  const record: db.EmailDomainRecord = {
    ...newRecord(workspaceId, name, key ?? (await generateInTurn(workspaceId)), time),
    status: 'verified',
    verifiedAt: time,
  };
  await insert(record);
  return record;
}

function newRecord(
  workspaceId: string,
  name: string,
  { privateKeyPem, publicKeyTxt }: DkimKey,
  createdAt: Date,
) {
  const id = newId('domain', createdAt);
  return {
    id,
    workspaceId,
    name,
    // Each workspace has a selector of its own, so that the DNS record there proves that this workspace has the domain.
    dkimSelector: `m${id.slice(-12)}`,
    dkimPrivateKey: seal(id, privateKeyPem),
    dkimPublicKey: publicKeyTxt,
    checks: {},
    createdAt,
    verifiedAt: null,
    lastCheckedAt: null,
    warningSince: null,
    checkDueAt: null,
  };
}

async function insert(record: db.EmailDomainRecord): Promise<void> {
  await orTaken(db.insertEmailDomain(record.workspaceId, record), 'name_taken', takenDetail(record.name));
}

function nameOf(typed: string): string {
  const name = asciiDomain(typed);
  if (name === null) throw invalid('name', 'must be a domain name such as example.com');
  if (name.length > maxNameLength)
    throw invalid('name', `must have at most ${maxNameLength} characters in punycode`);
  return name;
}

async function checkCap(workspaceId: string): Promise<void> {
  const count = await db.findEmailDomainCount(workspaceId);
  refuseOneMore(count, maxDomains, 'sending domains', 'Remove one that you no longer need');
}

function takenDetail(name: string): string {
  return `This workspace already has the domain ${name}`;
}

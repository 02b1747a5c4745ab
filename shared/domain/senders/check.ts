import { now } from '../../common/clock.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspace } from '../../db/workspace/workspaces.ts';
import { numberOfName, parseSenderName, type SenderName } from '../../formats/sms/sender-name.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { SenderCheck } from '../../schemas/senders.ts';
import { mayTakeCode } from './limits.ts';
import { awaitsCode, toWire } from './record.ts';
import { mostSenders } from './request.ts';

/** Returns the answer that a request for the name would get, and stores nothing. */
export async function check({ workspaceId }: Caller, text: string): Promise<SenderCheck> {
  const parsed = parseSenderName(text);
  if (!parsed.ok)
    return { name: text, kind: null, acceptable: false, reasons: [parsed.message], existing: null };
  const existing = await db.findSenderByKey(workspaceId, parsed.key);
  const reasons = existing ? await reasonsOf(existing) : await reasonsAgainst(workspaceId, parsed);
  const needsCode = existing ? awaitsCode(existing) : parsed.isMobile;
  if (needsCode && !(await mayTakeCode(workspaceId, numberOfName(parsed.name)!, now())))
    reasons.push('must wait, because too many codes were texted to it, or by this workspace');
  return {
    name: parsed.name,
    kind: parsed.isMobile ? 'mobile' : 'name',
    acceptable: reasons.length === 0,
    reasons,
    existing: existing && toWire(existing),
  };
}

async function reasonsOf({ workspaceId, nameKey, status, countries }: db.SenderRecord): Promise<string[]> {
  if (status === 'rejected') return ['was rejected before'];
  const workspace = await findWorkspace(workspaceId);
  const own = countries.find(({ country }) => country === workspace?.country);
  const known = own ? [own] : await db.listSenderRejections(workspaceId, nameKey!);
  return rejectionsFor(workspace?.country, known);
}

function rejectionsFor(asked: string | undefined, countries: readonly db.CountryRecord[]): string[] {
  return countries
    .filter(({ country, status }) => country === asked && status === 'rejected')
    .map(({ country }) => `was rejected before for ${country}`);
}

async function reasonsAgainst(workspaceId: string, { key, isMobile }: SenderName): Promise<string[]> {
  const [workspace, rejections, waiting, count] = [
    await findWorkspace(workspaceId),
    await db.listSenderRejections(workspaceId, key),
    isMobile ? await db.findSenderAwaitingCode(workspaceId) : null,
    await db.findSenderCount(workspaceId),
  ];
  return [
    ...rejectionsFor(workspace?.country, rejections),
    ...(waiting ? [`must wait until ${waiting.name} is verified or cancelled`] : []),
    ...(count >= mostSenders ? [`would exceed the ${mostSenders} senders that a workspace may have`] : []),
  ];
}

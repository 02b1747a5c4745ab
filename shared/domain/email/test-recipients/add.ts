import { now } from '../../../common/clock.ts';
import { invalid, orNotFound, problem } from '../../../common/errors.ts';
import { config } from '../../../config/config.ts';
import { listTestLinksTo } from '../../../db/email/test-recipients.system.ts';
import * as db from '../../../db/email/test-recipients.ts';
import { findWorkspaceForUpdate, type WorkspaceRecord } from '../../../db/workspace/workspaces.ts';
import { compareKey, parseMailbox } from '../../../formats/email/address.ts';
import { newId } from '../../../formats/ids.ts';
import type { NewTestRecipient, TestRecipient } from '../../../schemas/email/test-recipients.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import * as systemMail from '../../operations/system-mail.ts';
import { refuseOneMore } from '../../requests/refusals.ts';
import { linkDays, linkFor } from './link.ts';
import { toWire } from './read.ts';

const maxRecipients = 100;

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The limits hold for any caller: no address gets a flood of links, and no workspace sends one. */
const linksAMinuteToAnAddress = 1;
const linksADayToAnAddress = 5;
const linksADayOfAWorkspace = 300;

/**
 * Adds the address and sends it a link, in the current transaction. A known address is returned as it is; until it is
 * confirmed, it gets another link if the limits allow one by now.
 */
export async function add(
  caller: Caller,
  request: NewTestRecipient,
): Promise<{ recipient: TestRecipient; isNew: boolean }> {
  const { workspaceId } = caller;
  const parsed = parseMailbox(request.email, { allowDisplayName: false });
  if (!parsed.ok) throw invalid('email', parsed.message);
  const { address } = parsed.mailbox;
  const emailKey = compareKey(address);
  // Lock the workspace: the cap and the limits of links must hold for simultaneous requests too.
  const workspace = orNotFound(await findWorkspaceForUpdate(workspaceId));

  const known = await db.findTestRecipientByEmail(workspaceId, emailKey);
  if (known) {
    if (known.verifiedAt === null && config.SYSTEM_SENDER && (await waitMs(workspaceId, emailKey)) === 0)
      await sendLink(workspace, known);
    return { recipient: toWire(known), isNew: false };
  }
  const count = await db.findTestRecipientCount(workspaceId);
  refuseOneMore(count, maxRecipients, 'test recipients', 'Remove one that you no longer need');
  if (!config.SYSTEM_SENDER)
    throw problem('service_unavailable', {
      detail:
        'Confirmation links cannot be sent, because the operator has not set SYSTEM_SENDER. Ask the operator to set it',
      retryAfterSeconds: 3_600,
    });
  const wait = await waitMs(workspaceId, emailKey);
  if (wait > 0)
    throw problem('rate_limited', {
      detail:
        'Too many confirmation links were sent to this address, or by this workspace. Send this request again later',
      retryAfterSeconds: wait / 1000,
    });
  const createdAt = now();
  const record: db.TestRecipientRecord = {
    id: newId('testrecipient', createdAt),
    workspaceId,
    email: address,
    emailKey,
    createdAt,
    verifiedAt: null,
  };
  await db.insertTestRecipient(workspaceId, record);
  await sendLink(workspace, record);
  return { recipient: toWire(record), isNew: true };
}

async function sendLink(workspace: WorkspaceRecord, { id, email, emailKey }: db.TestRecipientRecord) {
  await db.insertTestLink(workspace.id, emailKey, now());
  await systemMail.send(email, {
    subject: 'Confirm that you want to receive test emails',
    text: [
      `A user of our service wants to send test emails to ${email}. This user has the name ${quoted(workspace.name)} there.`,
      `If you want to receive them, open this page within ${linkDays} days and press its button:\n\n${linkFor(id)}`,
      'If you do not want them, do nothing. Nothing more is sent to you.',
    ].join('\n\n'),
  });
}

/** Cleans and quotes a customer's name for a mail to a stranger: the name must bring no link and no extra line. */
function quoted(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{M}\p{N} &'-]+/gu, ' ').trim();
  return `“${[...plain].slice(0, 60).join('')}”`;
}

/** Returns how long until another link may go to the address; 0: now. */
async function waitMs(workspaceId: string, emailKey: string): Promise<number> {
  const time = now();
  const since = new Date(time.getTime() - dayMs);
  const [toAddress, ofWorkspace] = [
    await listTestLinksTo(emailKey, since, linksADayToAnAddress),
    await db.listTestLinks(workspaceId, since, linksADayOfAWorkspace),
  ];
  const own = toAddress.filter((link) => link.workspaceId === workspaceId).map(({ sentAt }) => sentAt);
  const frees = [
    freeAt(own, linksAMinuteToAnAddress, minuteMs),
    freeAt(
      toAddress.map(({ sentAt }) => sentAt),
      linksADayToAnAddress,
      dayMs,
    ),
    freeAt(ofWorkspace, linksADayOfAWorkspace, dayMs),
  ];
  return Math.max(0, Math.max(...frees) - time.getTime());
}

/** Returns when one more link may follow, where any time span of this length may have at most `most` links. */
function freeAt(newestFirst: readonly Date[], most: number, lengthMs: number): number {
  const nth = newestFirst[most - 1];
  return nth === undefined ? 0 : nth.getTime() + lengthMs;
}

import type { Channel } from '../../db/reports/counts.ts';
import type { ReportedMessages } from '../../db/reports/messages.system.ts';
import { addressOf, compareKey } from '../../formats/email/address.ts';
import { asciiDomain } from '../../formats/email/domain-name.ts';
import { emailLanes } from '../../schemas/lanes.ts';
import { staysCharged } from '../sms/stays-charged.ts';
import { bucketsOf, type Facts, other, type Standing } from './facts.ts';
import { hourOf } from './pieces.ts';

/** Reads the facts of a message from its row or, once the row is erased, from an event. */

const bounces: Record<string, Standing['reason']> = {
  hard_bounce: 'hard_bounces',
  soft_bounce: 'soft_bounces',
  rejected: 'rejected',
  suppressed: 'suppressed',
};

/** Returns the facts of a stored message; null if it is not counted, such as an inbound text. */
export function factsOf<Of extends Channel>(channel: Of, row: ReportedMessages[Of]): Facts | null {
  return readers[channel](row);
}

const readers: { [Of in Channel]: (row: ReportedMessages[Of]) => Facts | null } = {
  email: emailFacts,
  sms: smsFacts,
};

function emailFacts(row: ReportedMessages['email']): Facts {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    workspace: row.workspace_id.toString('latin1'),
    channel: 'email',
    hour: row.hour,
    kind: row.kind,
    tag: row.client_tag?.toString() ?? '',
    places: [
      ['recipient_domain', domainOf(row.recipient_key.toString())],
      ['sending_domain', domainOf(row.sender)],
    ],
    parts: 0,
    gbp: 0,
    eur: 0,
    standing: {
      status: row.status,
      reason: emailReason(row.status, row.reason_category),
      isOpened: row.is_opened === 1,
      isFree: true,
      charged: 0,
      gateway: '',
      errorCode: '',
      ...bucketsOf(row),
    },
  };
}

/** Returns the facts of an email that is erased by now, from its event; null where the event does not show an email. */
export function factsOfEvent(id: Buffer, workspaceId: Buffer, data: string): Facts | null {
  const email = JSON.parse(data);
  // One event that cannot be read must not hold up the figures of all workspaces.
  const shown = [email.status, email.sender, email.recipient, email.createdAt];
  if (!shown.every((field) => typeof field === 'string')) return null;
  if (!emailLanes.includes(email.kind) || Number.isNaN(Date.parse(email.createdAt))) return null;
  const [accepted, scheduled, sent, delivered] = [
    email.createdAt,
    email.scheduledAt,
    email.sentAt,
    email.deliveredAt,
  ].map((text) => (text ? Date.parse(text) : null));
  const msBetween = (from: number | null | undefined, to: number | null | undefined) =>
    from && to ? to - from : null;
  return emailFacts({
    id,
    workspace_id: workspaceId,
    kind: email.kind,
    status: email.status,
    sender: email.sender,
    recipient_key: Buffer.from(compareKey(addressOf(email.recipient))),
    reason_category: email.reason?.category ?? null,
    client_tag: email.clientTag,
    hour: hourOf(new Date(email.createdAt)),
    sent_ms: msBetween(scheduled ?? accepted, sent),
    delivered_ms: msBetween(sent, delivered),
    is_opened: email.openedAt ? 1 : 0,
  });
}

/** Only a failed email counts as bounced: an email that is delayed has a reason too. */
function emailReason(status: string, category: string | null): Standing['reason'] {
  if (category === 'complaint') return 'complaints';
  return status === 'failed' && category !== null ? (bounces[category] ?? null) : null;
}

function smsFacts(row: ReportedMessages['sms']): Facts | null {
  const { direction, status } = row;
  if (direction !== 'outbound' || status === 'received') return null;
  const isGivenBack =
    status === 'failed' &&
    !staysCharged({
      isSent: row.sent_ms !== null,
      uncertainCount: row.uncertain_count,
      isPartlyTaken: row.is_partly_taken === 1,
    });
  const reason = status === 'failed' ? row.reason_category : null;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    workspace: row.workspace_id.toString('latin1'),
    channel: 'sms',
    hour: row.hour,
    kind: row.batch_id === null ? 'single' : 'batch',
    tag: row.client_tag?.toString() ?? '',
    places: [
      ['country', row.country ?? ''],
      ['key', row.lineage_id?.toString('latin1') ?? ''],
    ],
    parts: row.parts,
    gbp: Number(row.cost_gbp ?? 0),
    eur: Number(row.cost_eur ?? 0),
    standing: {
      status,
      reason: reason === 'rejected' || reason === 'suppressed' ? reason : null,
      isOpened: false,
      isFree: status === 'held' || status === 'cancelled' || isGivenBack,
      charged: Number(row.charged),
      gateway: row.gateway?.toString() ?? '',
      errorCode: status === 'failed' ? (row.reason_code ?? '') : '',
      ...bucketsOf(row),
    },
  };
}

/**
 * Returns the domain of an address, also of one with a name before it, in lower case and punycode: a sender is stored as
 * it was typed, and all spellings of its domain count together. A domain that cannot be read counts as `other`.
 */
function domainOf(address: string): string {
  const typed = address.slice(address.lastIndexOf('@') + 1).replace(/>$/, '');
  // Nearly all domains are plain already, and this runs for every event.
  return /^[A-Za-z0-9.-]*$/.test(typed) ? typed.toLowerCase() : (asciiDomain(typed) ?? other);
}

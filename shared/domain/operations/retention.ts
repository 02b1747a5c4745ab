import { now } from '../../common/clock.ts';
import { isolated } from '../../common/isolated.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import { deleteMembersOfRemoved } from '../../db/contact-lists/copies.system.ts';
import { deleteUnopenedBefore } from '../../db/conversations/conversations.system.ts';
import { deleteEmailsBefore } from '../../db/email/retention.system.ts';
import * as system from '../../db/events/events.system.ts';
import { deleteExpiredRecords } from '../../db/requests/idempotency.system.ts';
import { deleteCodeTimesBefore } from '../../db/senders/code-counts.system.ts';
import { deleteAged, deleteAgedOfBusy } from '../../db/server/aged-rows.system.ts';
import { deleteSimulatorPhonesBefore } from '../../db/simulator/answers.system.ts';
import { deleteBatchesBefore } from '../../db/sms/batches/batches.system.ts';
import {
  deleteShortLinksBefore,
  deleteShortLinkTotalsBefore,
} from '../../db/sms/short-links/short-links.system.ts';
import {
  deleteAttemptsBefore,
  deleteDeliveriesBefore,
} from '../../db/webhooks/deliveries/deliveries.system.ts';
import * as apiKeys from '../api-keys/api-keys.ts';
import { finishErasures } from '../contacts/erasure.ts';
import * as conversations from '../conversations/conversations.ts';
import { forgetLeftAttachments } from '../email/delivery/attachments.ts';
import * as reports from '../reports/reports.ts';
import { deleteLeftImports } from '../sms/batches/import/import.ts';
import { deleteRowsPast } from '../sms/batches/work/rows-past.ts';
import * as smsLedger from '../sms/ledger.ts';
import { expire } from '../webhooks/deliveries/expire.ts';

const batchSize = 2_000;
// The attachments of one email can have 30 MB.
const attachmentBatchSize = 50;
// A million rows of each kind in a run, three thousand a second: more than a busy day brings.
const batchesPerRun = 500;
const hourMs = 3_600_000;
// A carrier that is not told how long to try a text tries it for some days, and for a week at most.
const usualValidityHours = 7 * 24;
// A key that a rotation has replaced is kept for this time after its end, so that its owner can see when it ended.
const replacedKeyDays = 30;

/**
 * Deletes rows whose retention has ended. Events and deliveries go an hour late, so that a reader who is just in time
 * never meets a gap. Batches are small, so that nothing waits long for them. If the process must stop, the next run
 * does the rest. If a kind fails, it is left to the next run, and the first fault is thrown after the other kinds are
 * done; an outage that lasts ends the run. Returns how many rows were deleted.
 */
export async function purge(isStopping: () => boolean = () => false): Promise<number> {
  const deletions = isolated('one kind of old data could not be deleted');
  const isOver = () => isStopping() || deletions.isInOutage();
  const until = new Date(now().getTime() - config.EVENT_RETENTION_DAYS * 24 * hourMs - hourMs);
  const position = (await deletions.run({ kind: 'marks' }, () => markAndFindPosition(until))) ?? 0;
  await deletions.run({ kind: 'expiredDeliveries' }, () => expire(isStopping));
  await deletions.run({ kind: 'leftImports' }, deleteLeftImports);
  await deletions.run({ kind: 'leftAttachments' }, async () => {
    while (!isStopping() && (await forgetLeftAttachments(attachmentBatchSize)) === attachmentBatchSize);
  });
  const kinds = new Map(Object.entries(kindsOf(until, position, isStopping)));
  let gone = 0;
  for (let batch = 0; batch < batchesPerRun && !isOver(); batch += 1) {
    let most = 0;
    for (const [kind, one] of kinds) {
      if (isOver()) break;
      const rows = await deletions.run({ kind }, one);
      if (rows === undefined) kinds.delete(kind);
      gone += rows ?? 0;
      most = Math.max(most, rows ?? 0);
    }
    if (most < batchSize) break;
  }
  if (!isOver())
    await deletions.run({ kind: 'marks' }, () =>
      system.deleteMarksBefore(new Date(until.getTime() - 24 * hourMs)),
    );
  deletions.end();
  if (!isStopping()) count('purge_runs');
  return gone;
}

async function markAndFindPosition(until: Date): Promise<number> {
  // The relay marks its position only when it numbers events, so in a quiet time the last events would stay.
  const { newest } = await system.findFeedBounds();
  await system.insertMark(newest, now());
  return system.findPositionAt(until);
}

/** Returns, in the order of their turns, functions that each delete a batch and return how many rows went. */
function kindsOf(
  until: Date,
  position: number,
  isStopping: () => boolean,
): Record<string, () => Promise<number>> {
  const hoursAgo = (hours: number) => new Date(now().getTime() - hours * hourMs);
  const emailsUntil = hoursAgo(config.EMAIL_RETENTION_DAYS * 24);
  const textsUntil = hoursAgo(config.SMS_RETENTION_DAYS * 24);
  let deliveries = { gone: 0, last: null as string | null };
  let attempts = deliveries;
  let lastEvent = 0;
  return {
    deliveries: async () => {
      deliveries = await deleteDeliveriesBefore(until, deliveries.last, batchSize);
      return deliveries.gone;
    },
    attempts: async () => {
      if (deliveries.gone === batchSize) return 0;
      attempts = await deleteAttemptsBefore(until, attempts.last, batchSize);
      return attempts.gone;
    },
    events: async () => {
      if (position === 0) return 0;
      const { gone, last } = await system.deleteEventsUpTo(position, lastEvent, batchSize);
      lastEvent = last;
      return gone;
    },
    nonces: () => deleteAged('request_nonces', now(), batchSize),
    apiKeys: () => apiKeys.deleteReplaced(hoursAgo(replacedKeyDays * 24), batchSize),
    idempotencyRecords: () => deleteExpiredRecords(now(), batchSize),
    membersOfRemoved: () => deleteMembersOfRemoved(batchSize),
    erasures: () => finishErasures(batchSize, isStopping),
    copies: () => deleteAgedOfBusy('contact_list_copies', hoursAgo(1), batchSize),
    testLinks: () => deleteAgedOfBusy('email_test_links', hoursAgo(25), batchSize),
    codeTimes: () => deleteCodeTimesBefore(hoursAgo(25), batchSize),
    emails: () => deleteEmailsBefore(emailsUntil, batchSize),
    texts: () => conversations.deleteTextsBefore(textsUntil, batchSize),
    unopened: () => deleteUnopenedBefore(hoursAgo(1), batchSize),
    shortLinks: () => deleteShortLinksBefore(textsUntil, batchSize),
    batchRows: () => deleteRowsPast(batchSize),
    batches: () => deleteBatchesBefore(textsUntil, batchSize),
    shortLinkTotals: () => deleteShortLinkTotalsBefore(textsUntil, batchSize),
    ledger: () => smsLedger.fold(textsUntil, batchSize),
    simulatorMessages: () => deleteAged('simulator_messages', textsUntil, batchSize),
    simulatorPhones: () => deleteSimulatorPhonesBefore(textsUntil, batchSize),
    receipts: () => deleteAged('sms_receipts_unmatched', until, batchSize),
    parts: () => deleteAged('sms_parts', hoursAgo(longestReportHours()), batchSize),
    inboundParts: () => deleteAged('sms_inbound_parts', hoursAgo(7 * 24), batchSize),
    gatewayPosts: () => deleteAged('sms_gateway_posts', hoursAgo(7 * 24), batchSize),
    // After this time, the text that a reply names cannot be waiting any more.
    stopReplies: () => deleteAged('sms_stop_replies', hoursAgo(7 * 24), batchSize),
    unanswered: () => deleteAged('sms_inbound_unanswered', hoursAgo(24), batchSize),
    reports: () => reports.purge(batchSize),
  };
}

/**
 * Returns for how many hours after its hand-over a text may still get receipts: as long as a carrier tries it, and some
 * days in which the carrier may not have reached us. Without its parts, the receipt of the first part would end a text.
 */
function longestReportHours(): number {
  const validities = (config.SMS_GATEWAYS ?? []).map(
    (gateway) => ('validityHours' in gateway && gateway.validityHours) || usualValidityHours,
  );
  return Math.max(usualValidityHours, ...validities) + 3 * 24;
}

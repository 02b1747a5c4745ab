import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { deleteCopiesBefore, deleteMembersOfRemoved } from '../../db/contact-lists/copies.system.ts';
import { deleteUnopenedBefore } from '../../db/conversations/conversations.system.ts';
import { deleteEmailsBefore } from '../../db/email/retention.system.ts';
import { deleteTestLinksBefore } from '../../db/email/test-recipients.system.ts';
import * as system from '../../db/events/events.system.ts';
import { deleteExpiredRecords } from '../../db/requests/idempotency.system.ts';
import { deleteNoncesBefore } from '../../db/requests/nonces.system.ts';
import { deleteCodeTimesBefore } from '../../db/senders/code-counts.system.ts';
import {
  deleteShortLinksBefore,
  deleteShortLinkTotalsBefore,
} from '../../db/short-links/short-links.system.ts';
import {
  deleteSimulatorMessagesBefore,
  deleteSimulatorPhonesBefore,
} from '../../db/simulator/answers.system.ts';
import { deleteBatchesBefore } from '../../db/sms/batches/batches.system.ts';
import { deleteGatewayPostsBefore } from '../../db/sms/gateway-posts.system.ts';
import { deleteInboundPartsBefore, deleteUnansweredBefore } from '../../db/sms/inbound.system.ts';
import { deletePartsBefore } from '../../db/sms/parts.system.ts';
import { deleteReceiptsBefore } from '../../db/sms/receipts.system.ts';
import { deleteStopRepliesBefore } from '../../db/sms/stop-replies.system.ts';
import {
  deleteAttemptsBefore,
  deleteDeliveriesBefore,
} from '../../db/webhooks/deliveries/deliveries.system.ts';
import { finishErasures } from '../contacts/erasure.ts';
import * as conversations from '../conversations/conversations.ts';
import { forgetLeftAttachments } from '../email/delivery/attachments.ts';
import * as reports from '../reports/reports.ts';
import { deleteLeftImports } from '../sms/batches/import/import.ts';
import { deleteRowsPast } from '../sms/batches/work/rows-past.ts';
import * as smsLedger from '../sms/ledger.ts';
import { expire } from '../webhooks/deliveries/expire.ts';

const batchSize = 2_000;
// Each can have 30 MB.
const attachmentBatchSize = 50;
// A million rows of each kind in a run, three thousand a second: more than a busy day brings.
const batchesPerRun = 500;
const hourMs = 3_600_000;

/**
 * Deletes rows whose retention has ended. Events and deliveries go an hour late, so that a reader who is just in time
 * never meets a gap. Batches are small, so that nothing waits long for them. If the process must stop, the next run
 * does the rest. Returns how many rows were deleted.
 */
export async function purge(isStopping: () => boolean = () => false): Promise<number> {
  // The relay marks its position only when it numbers events, so in a quiet time the last events would stay.
  const { newest } = await system.findFeedBounds();
  await system.insertMark(newest, now());
  const until = new Date(now().getTime() - config.EVENT_RETENTION_DAYS * 24 * hourMs - hourMs);
  const position = await system.findPositionAt(until);
  const emailsUntil = new Date(now().getTime() - config.EMAIL_RETENTION_DAYS * 24 * hourMs);
  const textsUntil = new Date(now().getTime() - config.SMS_RETENTION_DAYS * 24 * hourMs);
  await expire(isStopping);
  await deleteLeftImports();
  while (!isStopping() && (await forgetLeftAttachments(attachmentBatchSize)) === attachmentBatchSize);
  let gone = 0;
  let deliveries = { gone: 0, last: null as string | null };
  let attempts = deliveries;
  let events = { gone: 0, last: 0 };
  for (let batch = 0; batch < batchesPerRun && !isStopping(); batch += 1) {
    deliveries = await deleteDeliveriesBefore(until, deliveries.last, batchSize);
    if (deliveries.gone < batchSize) attempts = await deleteAttemptsBefore(until, attempts.last, batchSize);
    if (position > 0) events = await system.deleteEventsUpTo(position, events.last, batchSize);
    const rows = [
      deliveries.gone,
      attempts.gone,
      events.gone,
      await deleteNoncesBefore(now(), batchSize),
      await deleteExpiredRecords(now(), batchSize),
      await deleteMembersOfRemoved(batchSize),
      await finishErasures(batchSize, isStopping),
      await deleteCopiesBefore(new Date(now().getTime() - hourMs), batchSize),
      await deleteTestLinksBefore(new Date(now().getTime() - 25 * hourMs), batchSize),
      await deleteCodeTimesBefore(new Date(now().getTime() - 25 * hourMs), batchSize),
      await deleteEmailsBefore(emailsUntil, batchSize),
      await conversations.deleteTextsBefore(textsUntil, batchSize),
      await deleteUnopenedBefore(new Date(now().getTime() - hourMs), batchSize),
      await deleteShortLinksBefore(textsUntil, batchSize),
      await deleteShortLinkTotalsBefore(textsUntil, batchSize),
      await deleteRowsPast(batchSize),
      await deleteBatchesBefore(textsUntil, batchSize),
      await smsLedger.fold(textsUntil, batchSize),
      await deleteSimulatorMessagesBefore(textsUntil, batchSize),
      await deleteSimulatorPhonesBefore(textsUntil, batchSize),
      await deleteReceiptsBefore(until, batchSize),
      await deletePartsBefore(new Date(now().getTime() - 7 * 24 * hourMs), batchSize),
      await deleteInboundPartsBefore(new Date(now().getTime() - 7 * 24 * hourMs), batchSize),
      await deleteGatewayPostsBefore(new Date(now().getTime() - 7 * 24 * hourMs), batchSize),
      // After this time, the text that a reply names cannot be waiting any more.
      await deleteStopRepliesBefore(new Date(now().getTime() - 7 * 24 * hourMs), batchSize),
      await deleteUnansweredBefore(new Date(now().getTime() - 24 * hourMs), batchSize),
      await reports.purge(batchSize),
    ];
    gone += rows.reduce((sum, count) => sum + count, 0);
    if (Math.max(...rows) < batchSize) break;
  }
  await system.deleteMarksBefore(new Date(until.getTime() - 24 * hourMs));
  return gone;
}

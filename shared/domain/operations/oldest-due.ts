import { secondsSince } from '../../common/clock.ts';
import { copyWork } from '../../db/contact-lists/copies.system.ts';
import { countingTable } from '../../db/contact-lists/counts.system.ts';
import { findOldestErasure } from '../../db/contacts/erasures.system.ts';
import { emailMessages } from '../../db/email/admission.system.ts';
import { checkTable } from '../../db/email/domains.system.ts';
import { findOldestUnnumbered } from '../../db/events/events.system.ts';
import { findOldestUncounted } from '../../db/reports/messages.system.ts';
import { answerWork } from '../../db/simulator/answers.system.ts';
import { batchWork } from '../../db/sms/batches/batches.system.ts';
import { smsMessages } from '../../db/sms/messages.system.ts';
import { findOldestDueDeliveries } from '../../db/webhooks/deliveries/deliveries.system.ts';
import { findOldestSettlement } from '../../db/webhooks/settlements.system.ts';
import { findOldestDue } from '../../db/work/admission.system.ts';
import { listOldestDue } from '../../db/work/due.system.ts';
import { findOldestDueMessages, type Messages } from '../../db/work/message-admission.system.ts';
import { emailLanes, smsLanes } from '../../schemas/lanes.ts';

/**
 * Returns for how many seconds the oldest due row of each kind of work has been due; 0 where none is. Its keys are in
 * the tables of shared/work/README.md. The times come from MySQL, so they are right without Redis too.
 */
export async function oldestDueSeconds(at: Date): Promise<Record<string, number>> {
  const age = (since: Date | null | undefined) => secondsSince(since, at);
  const [deliveries, event, uncounted, texts, emails, batches, copies, answers, rows, settlement, erasure] =
    await Promise.all([
      findOldestDueDeliveries(at),
      findOldestUnnumbered(),
      findOldestUncounted(),
      Promise.all(smsLanes.map((lane) => findOldestDueMessages(smsMessages, lane, at))),
      Promise.all(emailLanes.map((lane) => findOldestDueMessages(emailMessages, lane, at))),
      findOldestDueMessages(batchWork, 'expand', at),
      findOldestOfAll(copyWork, at),
      findOldestOfAll(answerWork, at),
      listOldestDue([countingTable, checkTable], at),
      findOldestSettlement(),
      findOldestErasure(),
    ]);
  const [count, check] = rows;
  return {
    ...Object.fromEntries(emailLanes.map((kind, index) => [`email_${kind}`, age(emails[index]?.admitted)])),
    // Only emails of workspaces without limits: the others wait because of their limits.
    email_backlog: Math.max(...emails.map(({ parked }) => age(parked))),
    sms: Math.max(...texts.map(({ admitted }) => age(admitted))),
    sms_backlog: Math.max(...texts.map(({ parked }) => age(parked))),
    // Only batches with messages still to make: the others only check whether their messages have a final status.
    sms_batch: age(batches.admitted),
    sms_batch_backlog: age(batches.parked),
    webhook_delivery: age(deliveries.admitted),
    // Only deliveries of healthy webhooks: the others wait because their webhook fails or is paused.
    webhook_backlog: age(deliveries.parked),
    webhook_settlement: age(settlement),
    contact_list_copy: age(copies.admitted),
    contact_list_copy_backlog: age(copies.parked),
    contact_list_count: age(count),
    contact_erasure: age(erasure),
    email_domain_check: age(check),
    simulator_answer: age(answers.admitted),
    simulator_answer_backlog: age(answers.parked),
    event: age(event),
    // Events that the figures of reports do not have yet.
    report: age(uncounted),
  };
}

/** Returns the oldest due times of work that a block on sending does not concern. */
const findOldestOfAll = ({ table }: Messages<'default'>, at: Date) =>
  findOldestDue(table, null, at, { table: 'workspaces', mayGoOn: 'TRUE' });

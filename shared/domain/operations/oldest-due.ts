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

type Since = Date | null | undefined;

/** For each kind of work, or a few of them, finds since when its oldest row has been due, by the key of the metric. */
const kinds: ((at: Date) => Promise<Record<string, Since>>)[] = [
  async (at) => {
    const lanes = await Promise.all(
      emailLanes.map(async (lane) => ({ lane, ...(await findOldestDueMessages(emailMessages, lane, at)) })),
    );
    return {
      ...Object.fromEntries(lanes.map(({ lane, admitted }) => [`email_${lane}`, admitted])),
      // Only emails of workspaces without limits: the others wait because of their limits.
      email_backlog: earliest(lanes.map(({ parked }) => parked)),
    };
  },
  async (at) => {
    const lanes = await Promise.all(smsLanes.map((lane) => findOldestDueMessages(smsMessages, lane, at)));
    return {
      sms: earliest(lanes.map(({ admitted }) => admitted)),
      sms_backlog: earliest(lanes.map(({ parked }) => parked)),
    };
  },
  // Only batches with messages still to make: the others only check whether their messages have a final status.
  async (at) => named('sms_batch', 'sms_batch_backlog', await findOldestDueMessages(batchWork, 'expand', at)),
  // The backlog has only deliveries of healthy webhooks: the others wait because their webhook fails or is paused.
  async (at) => named('webhook_delivery', 'webhook_backlog', await findOldestDueDeliveries(at)),
  async () => ({ webhook_settlement: await findOldestSettlement() }),
  async (at) => named('contact_list_copy', 'contact_list_copy_backlog', await findOldestOfAll(copyWork, at)),
  async (at) => named('simulator_answer', 'simulator_answer_backlog', await findOldestOfAll(answerWork, at)),
  async (at) => {
    const [contact_list_count, email_domain_check] = await listOldestDue([countingTable, checkTable], at);
    return { contact_list_count, email_domain_check };
  },
  async () => ({ contact_erasure: await findOldestErasure() }),
  async () => ({ event: await findOldestUnnumbered() }),
  // Events that the figures of reports do not have yet.
  async () => ({ report: await findOldestUncounted() }),
];

/**
 * Returns for how many seconds the oldest due row of each kind of work has been due; 0 where none is. Its keys are in
 * the tables of shared/work/README.md. The times come from MySQL, so they are right without Redis too.
 */
export async function oldestDueSeconds(at: Date): Promise<Record<string, number>> {
  const found = await Promise.all(kinds.map((kind) => kind(at)));
  return Object.fromEntries(
    found.flatMap(Object.entries<Since>).map(([key, since]) => [key, secondsSince(since, at)]),
  );
}

const named = (
  key: string,
  backlogKey: string,
  { admitted, parked }: { admitted: Since; parked: Since },
) => ({
  [key]: admitted,
  [backlogKey]: parked,
});

function earliest(times: Since[]): Since {
  return times.filter((time) => time != null).toSorted((one, other) => one.getTime() - other.getTime())[0];
}

/** Returns the oldest due times of work that a block on sending does not concern. */
const findOldestOfAll = ({ table }: Messages<'default'>, at: Date) =>
  findOldestDue(table, null, at, { table: 'workspaces', mayGoOn: 'TRUE' });

import { findOldestErasure } from '../../db/contacts/erasures.system.ts';
import { findOldestUnnumbered } from '../../db/events/events.system.ts';
import { findOldestUncounted } from '../../db/reports/messages.system.ts';
import { findOldestSettlement } from '../../db/webhooks/settlements.system.ts';
import { dueKinds } from '../../work/due.ts';
import type { WorkKind } from '../../work/kind.ts';
import * as contactLists from '../contact-lists/contact-lists.ts';
import * as emails from '../email/admission/admission.ts';
import * as emailDomains from '../email/domains/domains.ts';
import { wakeRelay } from '../events/events.ts';
import * as simulator from '../simulator/simulator.ts';
import * as batches from '../sms/batches/work/admission.ts';
import * as texts from '../sms/delivery/admission.ts';
import * as smsGateways from '../sms/gateways/gateways.ts';
import * as receipts from '../sms/gateways/receipts.ts';
import * as heldTexts from '../sms/held.ts';
import * as deliveries from '../webhooks/deliveries/sweep.ts';

/** Every kind of work, in the order of the sweep: emails come first, with one-time codes before all else. */
export const kinds: readonly WorkKind[] = [
  emails.kind,
  texts.kind,
  batches.kind,
  deliveries.kind,
  simulator.kind,
  contactLists.copies,
  dueKinds([contactLists.counts, emailDomains.checks, heldTexts.ends]),
  // Work without rows that the engine claims; shared/work/README.md says how each is done.
  { name: 'releases of held texts', sweep: (_, limit) => heldTexts.wakeReleases(limit) },
  { name: 'receipts', sweep: (_, limit) => receipts.matchLeft(limit) },
  { name: 'parts of inbound texts', sweep: (_, limit) => smsGateways.joinLeft(limit) },
  {
    name: 'settlements',
    sweep: deliveries.wakeSettlements,
    oldestDue: async () => [['webhook_settlement', await findOldestSettlement()]],
  },
  {
    name: 'events',
    sweep: wakeLateRelay,
    oldestDue: async () => [['event', await findOldestUnnumbered()]],
  },
  { name: 'reports', oldestDue: async () => [['report', await findOldestUncounted()]] },
  { name: 'erasures', oldestDue: async () => [['contact_erasure', await findOldestErasure()]] },
];

/** Wakes the relay if events wait too long for their numbers. Returns 0: these events are the relay's to count. */
async function wakeLateRelay(overdueBefore: Date): Promise<number> {
  const oldestEvent = await findOldestUnnumbered();
  if (oldestEvent && oldestEvent < overdueBefore) wakeRelay();
  return 0;
}

import type { Evidence, Finding } from '../types.ts';
import { addOdd, collect } from './findings.ts';

/** I12: no workspace sees, gets or owns data of another one; the bystander, who did nothing, has nothing. */
export function ownRowsOnly(evidence: Evidence): Finding[] {
  const { world, ledger, rows } = evidence;
  const findings = collect('I12');
  const ownerOfWebhook = new Map(
    ledger.customers.flatMap(({ endpoints, workspaceId }) =>
      endpoints.map((one) => [one.webhookId, workspaceId]),
    ),
  );
  const ownerOfEvent = new Map(rows.events.map(({ id, workspaceId }) => [id, workspaceId]));
  for (const { workspaceId, index } of ledger.customers)
    for (const event of ledger.feeds[index]!.events) {
      const owner = ownerOfEvent.get(event.eventId);
      if (event.workspaceId !== workspaceId || (owner && owner !== workspaceId))
        findings.add(`the feed of ${workspaceId} told what is another's`, event.eventId);
    }
  for (const [id, { webhookId, eventId }] of world.receivers.received)
    if (ownerOfEvent.get(eventId) !== ownerOfWebhook.get(webhookId))
      findings.add("an endpoint got another workspace's event", `${id}: ${eventId}`);
  for (const { id, workspaceId, webhookId, eventId } of rows.deliveries.values())
    if (ownerOfWebhook.get(webhookId) !== workspaceId || ownerOfEvent.get(eventId) !== workspaceId)
      findings.add('a delivery joins two workspaces', id);
  for (const { id, key, kind, customer, recipient } of ledger.items.values()) {
    const row = (kind === 'email' ? rows.emails : rows.texts).get(id);
    if (row && row.workspaceId !== ledger.customers[customer]!.workspaceId)
      findings.add('it is in the rows of another workspace', id);
    for (const copy of ledger.copies.get(key) ?? [])
      if (copy.recipient !== recipient)
        findings.add(`it went to ${copy.recipient} instead of ${recipient}`, id);
  }
  const idle = new Set(ledger.customers.flatMap((one) => (one.isBystander ? [one.workspaceId] : [])));
  for (const table of [rows.emails.values(), rows.texts.values(), rows.deliveries.values(), rows.events])
    for (const { id, workspaceId } of table)
      if (idle.has(workspaceId)) findings.add('the bystander has it', id);
  addOdd(evidence, findings, ['read another workspace']);
  return findings.list();
}

import { type Feed, readOn } from '../feed.ts';
import type { EventRow } from '../rows.ts';
import type { Evidence, Finding } from '../types.ts';
import type { Customer } from '../workspaces.ts';
import { type Collected, collect } from './findings.ts';

/** Waits in seconds after each failed attempt of a delivery, by the default schedule. */
const defaultWaits = '300,900,3600,14400,28800,43200';

/**
 * I8: the feed gave every event once, in the order of its position, and gives the same events when it is read again.
 * The events of a record have no gap. Each subscribed webhook got each event, under one Webhook-Id.
 */
export async function gaplessEvents(evidence: Evidence): Promise<Finding[]> {
  const { ledger, rows } = evidence;
  const findings = collect('I8');
  addGaps(rows.events, findings);
  for (const customer of ledger.customers) {
    const feed = ledger.feeds[customer.index]!;
    const stored = rows.events.filter(({ workspaceId }) => workspaceId === customer.workspaceId);
    addDifferences(stored, feed, findings);
    await addChangesOnReplay(evidence, customer, feed, findings);
    addMissingDeliveries(evidence, customer, stored, findings);
    for (const text of feed.oddities) findings.add('the feed answered', text);
  }
  return findings.list();
}

function addGaps(events: readonly EventRow[], findings: Collected): void {
  for (const [recordId, ofRecord] of Map.groupBy(events, (event) => event.recordId))
    for (const [index, { recordSeq, id }] of ofRecord.entries())
      if (recordSeq !== index + 1)
        findings.add(`event ${recordSeq} of its record stands in place ${index + 1}`, `${id} of ${recordId}`);
}

function addDifferences(stored: readonly EventRow[], feed: Feed, findings: Collected): void {
  const told = new Set<string>();
  for (const { eventId } of feed.events) {
    if (told.has(eventId)) findings.add('the feed told it twice', eventId);
    told.add(eventId);
  }
  const known = new Map(stored.map((event) => [event.id, event]));
  for (const { id, position } of stored) {
    if (position === null) findings.add('it has no place in the feed', id);
    else if (!told.has(id)) findings.add('the feed never told it', id);
  }
  let before = 0;
  for (const { eventId } of feed.events) {
    const position = known.get(eventId)?.position;
    if (position == null) findings.add('the feed told what is not there', eventId);
    else if (position <= before) findings.add('the feed told it out of its order', eventId);
    before = Math.max(before, position ?? 0);
  }
}

async function addChangesOnReplay(
  { world, ledger }: Evidence,
  customer: Customer,
  feed: Feed,
  findings: Collected,
): Promise<void> {
  const replay: Feed = { events: [], oddities: [] };
  const since = new Date(ledger.startedMs - 60_000).toISOString();
  const end = await readOn(world, customer, { cursor: null, since }, replay);
  if (end === null) findings.add('the feed could not be read again', customer.workspaceId);
  const length = Math.max(replay.events.length, feed.events.length);
  for (let index = 0; index < length; index += 1) {
    const [first, again] = [feed.events[index], replay.events[index]];
    if (first?.hash === again?.hash) continue;
    findings.add('read again, the feed is another from here on', `${first?.eventId} ${again?.eventId}`);
    return;
  }
}

function addMissingDeliveries(
  { world, rows }: Evidence,
  customer: Customer,
  stored: readonly EventRow[],
  findings: Collected,
): void {
  const waits = world.settings['WEBHOOK_RETRY_SCHEDULE_SECONDS'] ?? defaultWaits;
  const mostAttempts = waits.split(',').length + 1;
  const webhookIds = new Set(customer.endpoints.map(({ webhookId }) => webhookId));
  const known = new Map<string, string[]>();
  for (const { id, webhookId, eventId } of rows.deliveries.values()) {
    if (!webhookIds.has(webhookId)) continue;
    const name = `${webhookId} ${eventId}`;
    known.set(name, [...(known.get(name) ?? []), id]);
  }
  for (const { webhookId, types, manner } of customer.endpoints)
    for (const { id: eventId, type } of stored) {
      if (!(types as readonly string[]).includes(type)) continue;
      const ids = known.get(`${webhookId} ${eventId}`) ?? [];
      if (ids.length !== 1) {
        findings.add(`a webhook has ${ids.length} deliveries of an event`, `${eventId} for ${webhookId}`);
        continue;
      }
      const { id, status, attempts } = rows.deliveries.get(ids[0]!)!;
      const received = world.receivers.received.get(id);
      const isAccepted = received?.attempts.some((attempt) => attempt.status === 200) ?? false;
      if (received && received.eventId !== eventId) findings.add('its body tells of another event', id);
      if (
        status === 'delivered'
          ? isAccepted
          : status === 'failed' && manner !== 'healthy' && attempts >= mostAttempts
      )
        continue;
      findings.add(`a delivery is ${status}, and was ${isAccepted ? '' : 'never '}accepted`, id);
    }
  for (const [id, { webhookId }] of world.receivers.received)
    if (webhookIds.has(webhookId) && !rows.deliveries.has(id))
      findings.add('it was delivered, and there is no such delivery', id);
}

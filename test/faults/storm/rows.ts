import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import type { Customer } from './workspaces.ts';

/** Rows of the database, for the facts that cannot be seen from outside. */

export type RecordRow = {
  id: string;
  workspaceId: string;
  status: string;
  reference: string | null;
  recipient: string;
  reasonCode: string | null;
  createdMs: number;
  sentMs: number | null;
  dueMs: number | null;
  isHeld: boolean;
  retries: number;
  uncertainCount: number;
};
type EmailRow = RecordRow & { kind: string };
export type TextRow = RecordRow & {
  direction: string;
  batchId: string | null;
  parts: number;
  lineageId: string | null;
  charged: number;
  /** Charges and refunds by the ledger of the balance. */
  charges: number;
  refunds: number;
};
type BatchRow = { status: string; isExpanding: boolean; pausedReason: string | null };
export type EventRow = {
  id: string;
  workspaceId: string;
  position: number | null;
  type: string;
  recordId: string;
  recordSeq: number;
};
export type DeliveryRow = {
  id: string;
  workspaceId: string;
  webhookId: string;
  eventId: string;
  status: string;
  attempts: number;
  dueMs: number | null;
  isHeld: boolean;
};
export type UsageRow = {
  lineageId: string;
  day: string;
  usedInDay: number;
  month: string;
  usedInMonth: number;
};

export type Rows = {
  /** The platform's time of the reading. */
  atMs: number;
  emails: Map<string, EmailRow>;
  texts: Map<string, TextRow>;
  batches: Map<string, BatchRow>;
  /** Ids of the texts that the simulator's phones have. */
  simulated: Set<string>;
  /** By position, those without one last. */
  events: EventRow[];
  deliveries: Map<string, DeliveryRow>;
  usage: UsageRow[];
  balances: Map<string, { balance: number; sum: number }>;
  /** Undone work of other kinds, with the time since which it is due. */
  leftOver: { what: string; dueMs: number }[];
};

const pageSize = 10_000;

/** Reads rows page by page in the order of the ids: a run of half an hour leaves hundreds of thousands. */
async function* all(table: string, columns: string, workspaceId: string) {
  for (let after: Buffer = Buffer.alloc(16); ; ) {
    const page = await query<Record<string, any>[]>(
      `SELECT ${columns} FROM ${table} WHERE workspace_id = ? AND id > ? ORDER BY id LIMIT ${pageSize}`,
      [idToBytes(workspaceId), after],
    );
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)!['id'];
  }
}

const timeOf = (date: Date | null) => date && date.getTime();
const textOf = (bytes: Buffer | null) => bytes && bytes.toString();
const idOf = (prefix: Parameters<typeof idFromBytes>[0], bytes: Buffer) => idFromBytes(prefix, bytes);

const shared = `id, status, recipient, client_reference, reason_code, created_at, sent_at, due_at, lease_token, retries,
  uncertain_count`;

function toRecord(prefix: 'email' | 'sms', workspaceId: string, row: Record<string, any>): RecordRow {
  return {
    id: idOf(prefix, row['id']),
    workspaceId,
    status: row['status'],
    reference: textOf(row['client_reference']),
    recipient: String(row['recipient']),
    reasonCode: row['reason_code'],
    createdMs: row['created_at'].getTime(),
    sentMs: timeOf(row['sent_at']),
    dueMs: timeOf(row['due_at']),
    isHeld: row['lease_token'] !== null,
    retries: row['retries'],
    uncertainCount: row['uncertain_count'],
  };
}

export async function readRows(customers: readonly Customer[]): Promise<Rows> {
  const rows: Rows = {
    atMs: now().getTime(),
    emails: new Map(),
    texts: new Map(),
    batches: new Map(),
    simulated: new Set(),
    events: [],
    deliveries: new Map(),
    usage: [],
    balances: new Map(),
    leftOver: await readLeftOver(),
  };
  for (const { workspaceId } of customers) await readWorkspace(workspaceId, rows);
  rows.events.sort((one, other) => (one.position ?? Infinity) - (other.position ?? Infinity));
  return rows;
}

async function readWorkspace(workspaceId: string, rows: Rows): Promise<void> {
  for await (const row of all('emails', `${shared}, kind`, workspaceId)) {
    const email = toRecord('email', workspaceId, row);
    rows.emails.set(email.id, { ...email, kind: row['kind'] });
  }
  const columns = `${shared}, direction, batch_id, parts, lineage_id, charged`;
  for await (const row of all('sms_messages', columns, workspaceId)) {
    const { direction, parts, charged, lineage_id: lineage, batch_id: batch } = row;
    const text = toRecord('sms', workspaceId, row);
    const lineageId = lineage && idOf('key', lineage);
    const batchId = batch && idOf('batch', batch);
    const money = { charged: Number(charged), charges: 0, refunds: 0 };
    rows.texts.set(text.id, { ...text, direction, batchId, parts, lineageId, ...money });
  }
  for await (const row of all('sms_batches', 'id, state, expanding, paused_reason', workspaceId))
    rows.batches.set(idOf('batch', row['id']), {
      status: row['state'],
      isExpanding: row['expanding'] === 1,
      pausedReason: row['paused_reason'],
    });
  for await (const { id, direction } of all('simulator_messages', 'id, direction', workspaceId))
    if (direction === 'outbound') rows.simulated.add(idOf('sms', id));
  for await (const row of all('events', 'id, position, type, record_id, record_seq', workspaceId))
    rows.events.push({
      id: idOf('event', row['id']),
      workspaceId,
      position: row['position'] === null ? null : Number(row['position']),
      type: row['type'],
      recordId: row['record_id'].toString('hex'),
      recordSeq: row['record_seq'],
    });
  const ofDelivery = 'id, webhook_id, event_id, status, attempts, due_at, lease_token';
  for await (const row of all('webhook_deliveries', ofDelivery, workspaceId)) {
    const id = idOf('delivery', row['id']);
    rows.deliveries.set(id, {
      id,
      workspaceId,
      webhookId: idOf('webhook', row['webhook_id']),
      eventId: idOf('event', row['event_id']),
      status: row['status'],
      attempts: row['attempts'],
      dueMs: timeOf(row['due_at']),
      isHeld: row['lease_token'] !== null,
    });
  }
  await readMoney(workspaceId, rows);
}

async function readMoney(workspaceId: string, rows: Rows): Promise<void> {
  const own = [idToBytes(workspaceId)];
  const [balance] = await query('SELECT balance FROM sms_balances WHERE workspace_id = ?', own);
  let sum = 0;
  for await (const row of all('sms_ledger', 'id, kind, amount, sms_id', workspaceId)) {
    sum += Number(row['amount']);
    const text = row['sms_id'] && rows.texts.get(idOf('sms', row['sms_id']));
    if (text && row['kind'] === 'charge') text.charges -= Number(row['amount']);
    if (text && row['kind'] === 'refund') text.refunds += Number(row['amount']);
  }
  if (balance) rows.balances.set(workspaceId, { balance: Number(balance['balance']), sum });
  for (const row of await query<Record<string, any>[]>('SELECT * FROM key_usage WHERE workspace_id = ?', own))
    rows.usage.push({
      lineageId: idOf('key', row['lineage_id']),
      day: row['day'].toISOString().slice(0, 10),
      usedInDay: row['used_in_day'],
      month: row['month'].toISOString().slice(0, 10),
      usedInMonth: row['used_in_month'],
    });
}

/** Reads the undone work of all workspaces, without records and deliveries, whose own rows say when they are due. */
async function readLeftOver(): Promise<Rows['leftOver']> {
  const asked = {
    'events without a position': 'SELECT occurred_at AS due FROM events WHERE position IS NULL LIMIT 100',
    'settlements of webhooks': 'SELECT created_at AS due FROM webhook_settlements LIMIT 100',
    'answers of phones': 'SELECT due_at AS due FROM simulator_answers LIMIT 100',
    'receipts that match no text':
      'SELECT r.received_at AS due FROM sms_receipts_unmatched r JOIN sms_messages m ON m.gateway_reference = r.reference LIMIT 100',
    'copies of contact lists':
      'SELECT due_at AS due FROM contact_list_copies WHERE running_list_id IS NOT NULL LIMIT 100',
    'counts of contact lists':
      'SELECT due_at AS due FROM contact_list_counts WHERE due_at IS NOT NULL LIMIT 100',
  };
  const found: Rows['leftOver'] = [];
  for (const [what, sql] of Object.entries(asked))
    for (const { due } of await query<{ due: Date }[]>(sql)) found.push({ what, dueMs: due.getTime() });
  return found;
}

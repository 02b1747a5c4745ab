import { type Param, query } from '../../../shared/db/client.ts';
import { startApi } from '../../support/api/start-api.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { noteBatchItems } from './batches.ts';
import type { Item } from './ledger.ts';
import { startLoad } from './load.ts';
import { randomOf } from './random.ts';
import { startReceivers } from './receivers.ts';
import { findUnfinished } from './rest.ts';
import { readRows } from './rows.ts';
import type { Check, Evidence, Ledger, Rows, World } from './types.ts';

let world: World;
let ledger: Ledger;
/** After the run nobody writes any more, but for the row that a breach changes. */
let soundRows: Rows;

/** One real run, long enough to have met what the breaches are planted in. */
export async function soundRun(): Promise<{ world: World; ledger: Ledger }> {
  const sink = await startSmtpSink();
  const settings = { EMAIL_DELIVERED_ON: 'accept', SIMULATOR_SECONDS: 0.1 } as const;
  const waits = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
  changeSettings({ ...settings, SMTP_URL: sink.url });
  changeSettings({ WEBHOOK_RETRY_SCHEDULE_SECONDS: waits });
  const api = await startApi();
  const workers = await runWorkers();
  world = {
    webUrls: () => [api.url],
    sink,
    receivers: startReceivers(randomOf(2)),
    settings: { WEBHOOK_RETRY_SCHEDULE_SECONDS: waits.join(',') },
  };
  const load = await startLoad(world, { perSecond: 20, random: randomOf(1), log: () => undefined });
  ledger = load.ledger;
  await waitFor('it has met enough', () => hasMetEnough(), {
    timeoutMs: 120_000,
  });
  await load.stop();
  world.receivers.calm();
  await waitFor('all has come to rest', rest, { timeoutMs: 240_000, intervalMs: 100 });
  await load.close();
  await workers.stop();
  soundRows = await readRows(ledger.customers);
  noteBatchItems(ledger, soundRows);
  return { world, ledger };
}

export const items = (): Item[] => [...ledger.items.values()];
const wanted: ((item: Item) => boolean)[] = [
  ({ kind, cancelled }) => kind === 'email' && cancelled?.status === 200,
  ({ isToSuppressed }) => isToSuppressed,
  ({ kind }) => kind === 'sms',
  ({ key }) => (ledger.copies.get(key) ?? []).length > 0,
];

const hasMetEnough = () => ledger.batches.size > 0 && wanted.every((isThere) => items().some(isThere));

async function rest(): Promise<boolean> {
  const { atMs, unfinished } = await findUnfinished();
  const next = Math.min(...unfinished.map(({ dueMs }) => dueMs));
  // Two minutes, so that few moves do for all that is scheduled.
  if (unfinished.length > 0 && next > atMs) await advanceClockTo(new Date(next + 120_000));
  return unfinished.length === 0;
}

/** Evidence of its own for each breach, with what `plant` makes of it. */
export async function found(
  check: Check,
  plant: (evidence: Evidence) => void = () => undefined,
  rows = structuredClone(soundRows),
): Promise<string> {
  const { received, oddities, ...receivers } = world.receivers;
  const evidence: Evidence = {
    world: {
      ...world,
      receivers: { ...receivers, received: structuredClone(received), oddities: [...oddities] },
    },
    ledger: structuredClone(ledger),
    faults: [],
    rows,
  };
  plant(evidence);
  return (await check(evidence)).map(({ text, ids }) => `${text}: ${ids.join(' ')}`).join('\n');
}

/** The same, with a row changed for as long as the check takes. */
export async function foundWith(
  check: Check,
  table: string,
  where: Record<string, Param>,
  changes: Record<string, Param>,
): Promise<string> {
  const columns = Object.keys(changes);
  const condition = Object.keys(where)
    .map((name) => `${name} = ?`)
    .join(' AND ');
  const values = Object.values(where);
  const [before] = await query(
    `SELECT ${columns.join(', ')} FROM ${table} WHERE ${condition} LIMIT 1`,
    values,
  );
  if (!before) throw new Error(`${table} has no such row`);
  await query(`UPDATE ${table} SET ? WHERE ${condition}`, [changes, ...values]);
  try {
    return await found(check, undefined, await readRows(ledger.customers));
  } finally {
    await query(`UPDATE ${table} SET ? WHERE ${condition}`, [before, ...values]);
  }
}

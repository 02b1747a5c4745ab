import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/sms/batches/batches.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { Answer, Client } from '../api/start-api.ts';
import { advanceClock } from '../time/advance-clock.ts';

/** Returns this many messages to different phones of the simulator, from number `first` on. */
export function messagesTo(count: number, first = 0): { recipient: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    recipient: `+4479110${`${first + index}`.padStart(5, '0')}`,
  }));
}

export function postBatch(
  api: Client,
  { key }: { key: string },
  body: Record<string, unknown>,
): Promise<Answer> {
  return api.request('POST', '/v2/sms/batches', { key, body: { content: 'Hello', ...body } });
}

/** Makes a batch through the API and returns its record; throws unless it was accepted. */
export async function newBatch(
  api: Client,
  from: { key: string },
  body: Record<string, unknown>,
): Promise<any> {
  const answer = await postBatch(api, from, body);
  if (answer.status !== 201) throw new Error(`Not accepted: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function batchOf(api: Client, { key }: { key: string }, id: string): Promise<any> {
  return (await api.request('GET', `/v2/sms/batches/${id}`, { key })).body;
}

/** Does the work of a worker on the batch, until no work is due. */
export async function workOff(id: string): Promise<void> {
  while ((await isDue(id)) && (await attempt(id)) === 'done');
}

/** Moves the clock forward, so that the next work on the batch is due, and does this work. */
export async function workLater(id: string, ms = 61_000): Promise<void> {
  await advanceClock(ms);
  await workOff(id);
}

async function isDue(id: string): Promise<boolean> {
  const [row] = await query("SELECT 1 FROM sms_batches WHERE id = ? AND status = 'queued'", [idToBytes(id)]);
  return row !== undefined;
}

/** Counts the messages of the batch by status, from their rows. */
export async function statusesOf(id: string): Promise<Record<string, number>> {
  const rows = await query(
    'SELECT status, COUNT(*) AS messages FROM sms_messages WHERE batch_id = ? GROUP BY status',
    [idToBytes(id)],
  );
  return Object.fromEntries(rows.map(({ status, messages }) => [status, Number(messages)]));
}

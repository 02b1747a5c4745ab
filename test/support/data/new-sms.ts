import { now } from '../../../shared/common/clock.ts';
import { transaction } from '../../../shared/db/client.ts';
import { listEventsOfRecord } from '../../../shared/db/events/events.ts';
import { findSms, insertSms, type SmsRecord } from '../../../shared/db/sms/messages.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { newId } from '../../../shared/formats/ids.ts';
import type { Scope } from '../../../shared/schemas/scopes.ts';
import type { Answer, Client } from '../api/start-api.ts';
import { workspace } from './factory.ts';

type Own = Awaited<ReturnType<typeof workspace>>;

/** Makes a workspace with a sender, Acme, that may text British numbers. */
export async function textingWorkspace(options: { scopes?: readonly Scope[] } = {}): Promise<Own> {
  const own = await workspace(options);
  await senders.addApproved(own.workspaceId, 'Acme');
  return own;
}

/** Returns the smallest body that POST /v2/sms takes, with these changes. */
export function newSms(changes: Record<string, unknown> = {}) {
  return { recipient: '+447700900123', content: 'Hello', ...changes };
}

export function postSms(
  api: Client,
  from: { key: string },
  changes?: Record<string, unknown>,
  key = from.key,
): Promise<Answer> {
  return api.request('POST', '/v2/sms', { key, body: newSms(changes) });
}

/** Sends a text through the API and returns its record; throws unless it was accepted. */
export async function sendSms(
  api: Client,
  from: { key: string },
  changes?: Record<string, unknown>,
): Promise<any> {
  const answer = await postSms(api, from, changes);
  if (answer.status !== 201) throw new Error(`Not accepted: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Stores copies of a text, as a batch does. */
export async function storeTexts(
  like: SmsRecord,
  count: number,
  changes: (index: number) => Partial<SmsRecord>,
): Promise<void> {
  for (let from = 0; from < count; from += 100)
    await transaction(async () => {
      for (let index = from; index < Math.min(from + 100, count); index += 1)
        await insertSms(like.workspaceId, { ...like, id: newId('sms', now()), ...changes(index) });
    });
}

/** Returns the stored record of a message, and the types of its events, oldest first. */
export async function smsOf({ workspaceId }: { workspaceId: string }, id: string) {
  const record = await findSms(workspaceId, id);
  const events = await listEventsOfRecord(workspaceId, id);
  return { ...record!, eventTypes: events.map(({ type }) => type) };
}

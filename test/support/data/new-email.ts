import type { Schema } from 'messaging-service/client';
import type { Answer, Client } from '../api/start-api.ts';
import { waitFor } from '../time/wait-for.ts';

type Sender = { key: string; sender: string };

const least = ({ sender }: Pick<Sender, 'sender'>) => ({
  sender,
  recipient: 'ada@example.com',
  subject: 'A subject',
  content: { text: 'A text' },
});

/** Returns the smallest body that POST /v2/email takes, with these changes. */
export function newEmail(from: Pick<Sender, 'sender'>, changes: Record<string, unknown> = {}) {
  return { ...least(from), ...changes };
}

/** Returns the same body for the typed client, which takes only changes that the API takes. */
export function letter(
  from: Pick<Sender, 'sender'>,
  changes: Partial<Schema<'NewEmail'>> = {},
): Schema<'NewEmail'> {
  return { ...least(from), ...changes };
}

export function postEmail(
  api: Client,
  from: Sender,
  changes?: Record<string, unknown>,
  key = from.key,
): Promise<Answer> {
  return api.request('POST', '/v2/email', { key, body: newEmail(from, changes) });
}

/** Sends an email through the API and returns its record; throws unless it was accepted. */
export async function sendEmail(api: Client, from: Sender, changes?: Record<string, unknown>): Promise<any> {
  const answer = await postEmail(api, from, changes);
  if (answer.status !== 201) throw new Error(`Not accepted: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Posts a large email, again and again while the API answers 503 because too many large ones are in progress. */
export async function postLargeEmail(
  api: Client,
  from: Sender,
  changes: Record<string, unknown>,
): Promise<Answer> {
  return waitFor('a large email has its turn', async () => {
    const answer = await postEmail(api, from, changes);
    return answer.status !== 503 && answer;
  });
}

import { query } from '../../../shared/db/client.ts';
import { findSenderAwaitingCode } from '../../../shared/db/senders/senders.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { numberOfName } from '../../../shared/formats/sms/sender-name.ts';
import type { Client } from '../api/start-api.ts';

/** Returns the texts on the simulator's phone of a mobile number in 07 format, oldest first. */
export async function textsTo(
  workspaceId: string,
  name: string,
): Promise<{ sender: string; content: string }[]> {
  const rows = await query<{ sender: Buffer; content: string }[]>(
    "SELECT sender, content FROM simulator_messages WHERE workspace_id = ? AND number = ? AND direction = 'outbound' ORDER BY id",
    [idToBytes(workspaceId), Buffer.from(numberOfName(name)!)],
  );
  return rows.map(({ sender, content }) => ({ sender: sender.toString(), content }));
}

/** Returns the code in the last text to this number. */
export async function codeSentTo(workspaceId: string, name: string): Promise<string> {
  const [code] = /^\d{6}/.exec((await textsTo(workspaceId, name)).at(-1)?.content ?? '') ?? [];
  if (!code) throw new Error(`No code was texted to ${name}`);
  return code;
}

/** Returns the code that the workspace waits for, or 000000 if the workspace waits for none. */
export async function codeAwaited(workspaceId: string): Promise<string> {
  const sender = await findSenderAwaitingCode(workspaceId);
  return sender ? codeSentTo(workspaceId, sender.name!) : '000000';
}

type Own = { workspaceId: string; key: string };
export const sampleContent = 'Your parcel arrives today between 10 and 11.';

/** Creates a sender for a mobile number that awaits its code; deletes the sender that awaited one before. */
export async function awaitingMobile(api: Client, { workspaceId, key }: Own, name: string): Promise<string> {
  const former = await findSenderAwaitingCode(workspaceId);
  if (former) await api.request('DELETE', `/v2/senders/${former.id}`, { key });
  const { status, body } = await api.request('POST', '/v2/senders', { key, body: { name, sampleContent } });
  if (status !== 201) throw new Error(`POST /v2/senders: ${JSON.stringify(body)}`);
  return body.id;
}

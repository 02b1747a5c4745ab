import { query } from '../../../shared/db/client.ts';
import * as emails from '../../../shared/db/email/emails.ts';
import { systemWorkspaceId } from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';

/** Returns the paths of the confirmation links that were sent to an address, oldest first. */
export async function linksTo(address: string): Promise<string[]> {
  const { records } = await emails.listEmails(
    systemWorkspaceId,
    { recipientKey: address.toLowerCase() },
    { limit: 100, before: null },
  );
  const paths: string[] = [];
  for (const { id } of records.toReversed()) {
    const [row] = await query<{ text: string }[]>('SELECT text FROM email_bodies WHERE email_id = ?', [
      idToBytes(id),
    ]);
    const [link] = /https?:\/\/\S+\/confirm\/\S+/.exec(row?.['text'] ?? '') ?? [];
    if (link) paths.push(new URL(link).pathname);
  }
  return paths;
}

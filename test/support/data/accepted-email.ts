import { transaction } from '../../../shared/db/client.ts';
import * as emails from '../../../shared/db/email/emails.ts';
import * as events from '../../../shared/db/events/events.ts';
import * as email from '../../../shared/domain/email/email.ts';
import { NewEmail } from '../../../shared/schemas/email/email.ts';
import { type Caller, scopes } from '../../../shared/schemas/scopes.ts';
import type { workspace } from './factory.ts';
import { newEmail } from './new-email.ts';

type Workspace = Awaited<ReturnType<typeof workspace>>;

/** Returns the caller that the workspace's key identifies. */
export function callerOf({ workspaceId, keyId }: Workspace): Caller {
  return {
    workspaceId,
    keyId,
    lineageId: keyId,
    kind: 'api_key',
    scopes: new Set(scopes),
    apiVersion: null,
    strictMode: false,
    signing: null,
  };
}

/**
 * Accepts an email as the API does, but without HTTP. `alter` changes the stored record, also to values that the API
 * would refuse.
 */
export async function acceptEmail(
  from: Workspace,
  changes: Record<string, unknown> = {},
  alter: Partial<emails.EmailRecord> = {},
) {
  const caller = callerOf(from);
  const { record, ...rest } = await email.prepare(caller, NewEmail.parse(newEmail(from, changes)));
  await transaction(() => email.send(caller, { record: { ...record, ...alter }, ...rest }));
  const { id } = record;
  return {
    id,
    read: async () => (await emails.findEmail(from.workspaceId, id))!,
    eventTypes: async () => (await eventsOf(from, id)).map(({ type }) => type),
  };
}

/** The events of one email, oldest first, with their data parsed. */
export async function eventsOf({ workspaceId }: Workspace, emailId: string) {
  const stored = await events.listEventsOfRecord(workspaceId, emailId);
  return stored.map((event) => ({ ...event, data: JSON.parse(event.data) }));
}

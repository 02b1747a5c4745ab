import { orNotFound, problem } from '../../../common/errors.ts';
import * as db from '../../../db/email/test-recipients.ts';
import { TestRecipient } from '../../../schemas/email/test-recipients.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { wireOf } from '../../requests/wire.ts';

/** Oldest first, in one page (API decisions §1). */
export async function list(caller: Caller): Promise<{ data: TestRecipient[]; nextCursor: null }> {
  const records = await db.listTestRecipients(caller.workspaceId);
  return { data: records.map(toWire), nextCursor: null };
}

export async function find(caller: Caller, id: string): Promise<TestRecipient> {
  const record = orNotFound(await db.findTestRecipient(caller.workspaceId, id));
  return toWire(record);
}

export async function remove(caller: Caller, id: string): Promise<void> {
  if (!(await db.deleteTestRecipient(caller.workspaceId, id))) throw problem('not_found');
}

export function toWire(record: db.TestRecipientRecord): TestRecipient {
  return wireOf(TestRecipient, { ...record, verified: record.verifiedAt !== null });
}

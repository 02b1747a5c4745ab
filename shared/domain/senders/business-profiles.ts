import { now } from '../../common/clock.ts';
import { invalid, orNotFound } from '../../common/errors.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/senders/business-profiles.ts';
import { findBusinessProfileById } from '../../db/senders/senders.system.ts';
import * as senders from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import { withDefault } from './default.ts';
import { statusOf } from './record.ts';

/** Businesses that a workspace sends for, beside its own. The operator makes and verifies them. */

const longestName = 128;

export async function create(workspaceId: string, name: string): Promise<db.BusinessProfileRecord> {
  if (name === '' || [...name].length > longestName)
    throw invalid('name', `must have 1 to ${longestName} characters`);
  const createdAt = now();
  const record: db.BusinessProfileRecord = {
    id: newId('profile', createdAt),
    workspaceId,
    name,
    status: 'unverified',
    createdAt,
  };
  await db.insertBusinessProfile(workspaceId, record);
  return record;
}

export const listAll = db.listBusinessProfiles;
export const find = db.findBusinessProfile;

/** Verifies a business profile. The review of the senders that waited for the profile starts. */
export async function verify(profileId: string): Promise<db.BusinessProfileRecord> {
  return transaction(async () => {
    const known = orNotFound(
      await findBusinessProfileById(profileId),
      `There is no business profile ${profileId}`,
    );
    const { workspaceId } = known;
    // The lock comes before the profile changes: a request for a sender of this profile reads it under the same lock.
    await findWorkspaceForUpdate(workspaceId);
    await db.updateBusinessProfileVerified(workspaceId, profileId);
    for (const sender of await senders.listSendersAwaitingProfile(workspaceId, profileId))
      await senders.updateSender(
        workspaceId,
        await withDefault({ ...sender, status: statusOf(sender.countries) }),
      );
    return { ...known, status: 'verified' };
  });
}

import { now } from '../../common/clock.ts';
import type { CountryRecord, SenderRecord } from '../../db/senders/senders.ts';
import { newId } from '../../formats/ids.ts';
import { numberOfName } from '../../formats/sms/sender-name.ts';
import { Sender, type SenderStatus, unassignedName } from '../../schemas/senders.ts';
import { isAllSimulated } from '../../transports/sms.ts';
import { wireOf } from '../requests/wire.ts';

type Own = Pick<SenderRecord, 'workspaceId' | 'kind' | 'name' | 'nameKey' | 'status' | 'countries'>;

/** A sender as it is made first; it may have a sample or a business profile besides. */
export function newSender(own: Own & Partial<SenderRecord>): SenderRecord {
  return {
    id: newId('sender', now()),
    virtualNumber: null,
    isDefault: false,
    sampleContent: null,
    businessProfileId: null,
    code: null,
    createdAt: now(),
    ...own,
  };
}

/** Returns the status of a sender whose review is the only thing left to wait for (API decisions §4). */
export function statusOf(countries: readonly CountryRecord[]): SenderStatus {
  if (countries.some(({ status }) => status === 'approved')) return 'approved';
  return countries.length > 0 && countries.every(({ status }) => status === 'rejected')
    ? 'rejected'
    : 'pending';
}

export function isMobile({ kind, name }: Pick<SenderRecord, 'kind' | 'name'>): boolean {
  return kind === 'sender_name' && name !== null && numberOfName(name) !== null;
}

/**
 * Whether the number was verified by a code that the simulator got, so that anybody could read the code. Such a sender
 * keeps its code, until a code that went to the phone is given back.
 */
export function isUnproven({ status, code }: Pick<SenderRecord, 'status' | 'code'>): boolean {
  return status === 'approved' && code !== null;
}

/** Whether an unproven sender is refused, because a carrier takes texts now. */
const needsProof = (record: Pick<SenderRecord, 'status' | 'code'>) => isUnproven(record) && !isAllSimulated();

/** Whether a request for this sender texts it a code. */
export function awaitsCode(record: Pick<SenderRecord, 'status' | 'code'>): boolean {
  return record.status === 'awaiting_verification' || needsProof(record);
}

/** The reason why a sender for which `isUnproven` is true sends nothing by a carrier. */
export const unproven = 'it was verified only in the simulator; request it again to verify it with its phone';

export function toWire(record: SenderRecord): Sender {
  return wireOf(Sender, {
    ...record,
    name: record.name ?? unassignedName,
    countries: record.countries.map(({ country, status, reason }) => ({
      country,
      status,
      ...(reason !== null && { reason }),
      ...(needsProof(record) && status === 'approved' && { reason: unproven }),
    })),
    default: record.isDefault,
  });
}

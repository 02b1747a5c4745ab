import type { CountryRecord, SenderRecord } from '../../db/senders/senders.ts';
import { numberOfName } from '../../formats/sms/sender-name.ts';
import { type Sender, type SenderStatus, unassignedName } from '../../schemas/senders.ts';

/** The status of the whole, once nothing but the review is waited for (API decisions §4). */
export function statusOf(countries: readonly CountryRecord[]): SenderStatus {
  if (countries.some(({ status }) => status === 'approved')) return 'approved';
  return countries.length > 0 && countries.every(({ status }) => status === 'rejected')
    ? 'rejected'
    : 'pending';
}

export function isMobile({ kind, name }: Pick<SenderRecord, 'kind' | 'name'>): boolean {
  return kind === 'sender_name' && name !== null && numberOfName(name) !== null;
}

export function toWire(record: SenderRecord): Sender {
  return {
    id: record.id,
    kind: record.kind,
    name: record.name ?? unassignedName,
    status: record.status,
    countries: record.countries.map(({ country, status, reason }) => ({
      country,
      status,
      ...(reason !== null && { reason }),
    })),
    default: record.isDefault,
    sampleContent: record.sampleContent,
    businessProfileId: record.businessProfileId,
    createdAt: record.createdAt.toISOString(),
  };
}

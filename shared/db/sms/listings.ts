import { idToBytes } from '../../formats/ids.ts';
import type { SmsDirection, SmsStatus } from '../../schemas/sms/sms.ts';
import { type Condition, type ListedPage, listMatching, type Page } from '../client/listing.ts';
import { bytesOf } from '../client.ts';
import { type SmsRecord, sms } from './messages.ts';

export type SmsRowFilter = {
  status?: SmsStatus | undefined;
  direction?: SmsDirection | undefined;
  recipient?: string | undefined;
  sender?: string | undefined;
  clientReference?: string | undefined;
  clientTag?: string | undefined;
  batchId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
};

export type SmsListed = ListedPage<SmsRecord>;

/** `conditions`: further conditions, which come first; the first of them chooses the index. */
export type SmsChoice = { filter: SmsRowFilter; conditions?: Condition[] };

/** Newest first. */
export const listSms = (workspaceId: string, filter: SmsRowFilter, page: Page): Promise<SmsListed> =>
  listChoice(workspaceId, { filter }, page);

/** Lists the texts that match any of these choices, newest first. No text may match two of them. */
export async function listSmsOfAny(
  workspaceId: string,
  choices: SmsChoice[],
  page: Page,
): Promise<SmsListed> {
  return merged(
    await Promise.all(choices.map((choice) => listChoice(workspaceId, choice, page))),
    page.limit,
  );
}

function listChoice(
  workspaceId: string,
  { filter: { batchId, since, until, ...filter }, conditions = [] }: SmsChoice,
  page: Page,
): Promise<SmsListed> {
  const filters: Condition[] = [
    ...conditions,
    ['status', filter.status, 'sms_by_status'],
    ['direction', filter.direction, 'sms_by_direction'],
    ['recipient', bytesOf(filter.recipient), 'sms_by_recipient'],
    ['sender', bytesOf(filter.sender), 'sms_by_sender'],
    ['client_reference', bytesOf(filter.clientReference), 'sms_by_reference'],
    ['client_tag', bytesOf(filter.clientTag), 'sms_by_tag'],
    ['batch_id', batchId === undefined ? undefined : idToBytes(batchId), 'sms_by_batch'],
  ];
  return listMatching(workspaceId, { table: sms, index: 'sms_listed', filters, since, until }, page);
}

/** Merges listings down to the point that all of them have reached. Ids of one kind sort as their bytes do. */
function merged(listed: SmsListed[], limit: number): SmsListed {
  const [first] = listed;
  if (first && listed.length === 1) return first;
  // Beyond the newest end of a listing, that listing may have more texts.
  const end =
    listed
      .flatMap(({ reached }) => reached ?? [])
      .toSorted()
      .at(-1) ?? null;
  const records = listed
    .flatMap(({ records }) => records)
    .filter(({ id }) => end === null || id >= end)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const page = records.slice(0, limit);
  return { records: page, reached: page.length < records.length ? page.at(-1)!.id : end };
}

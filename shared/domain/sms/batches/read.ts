import { orNotFound } from '../../../common/errors.ts';
import * as db from '../../../db/sms/batches/batches.ts';
import { findBatchCounts, listBatchCounts } from '../../../db/sms/batches/counts.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import type { SmsBatch, SmsBatchFilter } from '../../../schemas/sms/batches.ts';
import { normalTag } from '../../email/rules.ts';
import { type CursorPage, mapPage, searchedPage } from '../../requests/keyset-pages.ts';
import { toWire } from './record.ts';

export async function find({ workspaceId }: Caller, batchId: string): Promise<SmsBatch> {
  const batch = orNotFound(await db.findSmsBatch(workspaceId, batchId));
  return toWire(batch, await findBatchCounts(workspaceId, batchId));
}

export async function list(
  { workspaceId }: Pick<Caller, 'workspaceId'>,
  query: SmsBatchFilter,
): Promise<CursorPage<SmsBatch>> {
  const { limit, cursor, ...filter } = query;
  const binding = { workspaceId, listing: 'sms-batches', filter };
  const rows = { ...filter, clientTag: filter.clientTag && normalTag(filter.clientTag) };
  return mapPage(
    searchedPage(binding, { limit, cursor }, (range) => db.listSmsBatches(workspaceId, rows, range)),
    (records) => toWireAll(workspaceId, records),
  );
}

async function toWireAll(workspaceId: string, records: db.ShownSmsBatch[]): Promise<SmsBatch[]> {
  const ids = records.map(({ id }) => id);
  const counts = await listBatchCounts(workspaceId, ids);
  return records.map((record, index) => toWire(record, counts[index]!));
}

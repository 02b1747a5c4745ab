import { query } from '../../../shared/db/client.ts';
import type { EmailKind } from '../../../shared/db/email/emails.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptEmail } from './accepted-email.ts';
import type { workspace } from './factory.ts';

type Workspace = Awaited<ReturnType<typeof workspace>>;

/** Accepts this many emails, as the API would, up to 20 at a time. Returns them in the order of their index. */
export async function acceptMany(
  from: Workspace,
  count: number,
  changes: (index: number) => Record<string, unknown> = () => ({}),
) {
  const accepted: Awaited<ReturnType<typeof acceptEmail>>[] = [];
  for (let start = 0; start < count; start += 20)
    accepted.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(20, count - start) }, (_, index) =>
          acceptEmail(from, changes(start + index)),
        ),
      )),
    );
  return accepted;
}

/** Counts the emails of a workspace by state: in Redis, parked in their rows, sent or failed. */
export async function emailCounts({ workspaceId }: Workspace, kind: EmailKind = 'transactional') {
  const rows = await query(
    'SELECT status, parked, COUNT(*) AS emails FROM emails WHERE workspace_id = ? AND kind = ? GROUP BY status, parked',
    [idToBytes(workspaceId), kind],
  );
  const of = (status: string, parked: number) =>
    Number(rows.find((row) => row['status'] === status && row['parked'] === parked)?.['emails'] ?? 0);
  return {
    inRedis: of('queued', 0),
    parked: of('queued', 1),
    sent: of('sent', 0),
    failed: of('failed', 0),
  };
}

export function jobsInRedis(kind: EmailKind = 'transactional'): Promise<number> {
  return queueOf(sendEmail.lanes[kind]).getJobCountByTypes('waiting', 'prioritized', 'delayed', 'active');
}

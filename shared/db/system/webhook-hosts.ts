import { fitting } from '../client/outside-text.ts';
import { type Changed, query, sqlTime } from '../client.ts';

export type HostEnd = { host: string; isSuccess: boolean; endedAt: Date };

/** Notes when each host was reached or failed last. In the order of the hosts, so that no two processes wait in a circle. */
export async function updateHosts(ends: HostEnd[]): Promise<void> {
  if (ends.length === 0) return;
  const hosts = ends
    .map((end) => ({ ...end, host: fitting('webhook_hosts.host', end.host) }))
    .toSorted((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : 0))
    .map(({ host, isSuccess, endedAt }) => ({
      host,
      succeeded: isSuccess ? sqlTime(endedAt) : null,
      failed: isSuccess ? null : sqlTime(endedAt),
      tried: sqlTime(endedAt),
    }));
  await query(
    `INSERT INTO webhook_hosts (host, succeeded_at, failed_at, tried_at)
     SELECT h.host, h.succeeded, h.failed, h.tried FROM JSON_TABLE(?, '$[*]' COLUMNS (
       host VARCHAR(260) PATH '$.host', succeeded DATETIME(3) PATH '$.succeeded',
       failed DATETIME(3) PATH '$.failed', tried DATETIME(3) PATH '$.tried')) AS h
     ON DUPLICATE KEY UPDATE
       succeeded_at = IF(h.succeeded IS NULL, webhook_hosts.succeeded_at,
         GREATEST(COALESCE(webhook_hosts.succeeded_at, h.succeeded), h.succeeded)),
       failed_at = IF(h.failed IS NULL, webhook_hosts.failed_at,
         GREATEST(COALESCE(webhook_hosts.failed_at, h.failed), h.failed)),
       tried_at = GREATEST(webhook_hosts.tried_at, h.tried)`,
    [JSON.stringify(hosts)],
  );
}

/** How many hosts were tried since then, and how many of them failed the last time. */
export async function findHostCounts(since: Date): Promise<{ tried: number; failing: number }> {
  const [row] = await query(
    `SELECT COUNT(*) AS tried, COALESCE(SUM(failed_at > COALESCE(succeeded_at, '1970-01-01')), 0) AS failing
     FROM webhook_hosts WHERE tried_at >= ?`,
    [since],
  );
  return { tried: Number(row!.tried), failing: Number(row!.failing) };
}

export async function deleteHostsBefore(triedBefore: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    'DELETE FROM webhook_hosts WHERE tried_at < ? ORDER BY tried_at LIMIT ?',
    [triedBefore, limit],
  );
  return affectedRows;
}

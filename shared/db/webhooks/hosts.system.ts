import { idToBytes } from '../../formats/ids.ts';
import { fitting } from '../client/outside-text.ts';
import { query, sqlTime } from '../client.ts';

export type HostEnd = { workspaceId: string; host: string; isSuccess: boolean; endedAt: Date };

/**
 * Records when each host last succeeded and last failed. Rows are written in the order of the hosts, so that two
 * processes cannot deadlock.
 */
export async function updateHosts(ends: HostEnd[]): Promise<void> {
  if (ends.length === 0) return;
  const nameOf = ({ host, workspaceId }: HostEnd) => `${host} ${workspaceId}`;
  const rows = ends
    .map((end) => ({ ...end, host: fitting('webhook_hosts.host', end.host) }))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
    .map(({ host, workspaceId, isSuccess, endedAt }) => {
      const at = sqlTime(endedAt);
      return [host, idToBytes(workspaceId), isSuccess ? at : null, isSuccess ? null : at, at];
    });
  const latest = (name: string) => `${name} = CASE WHEN VALUES(${name}) IS NULL THEN ${name}
    ELSE GREATEST(COALESCE(${name}, VALUES(${name})), VALUES(${name})) END`;
  await query(
    `INSERT INTO webhook_hosts (host, workspace_id, succeeded_at, failed_at, tried_at) VALUES ?
     ON DUPLICATE KEY UPDATE ${['succeeded_at', 'failed_at', 'tried_at'].map(latest).join(', ')}`,
    [rows],
  );
}

/**
 * Returns for each workspace how many hosts were tried since then, and how many of them failed the last time. A host
 * that several workspaces go to is shared out among them, so all shares of one host add up to one.
 */
export function listHostCounts(since: Date): Promise<{ tried: number; failing: number }[]> {
  // As doubles: shares that are decimals of four places would not add up.
  return query(
    `SELECT SUM(share) AS tried, SUM(IF(failed_at > COALESCE(succeeded_at, '1970-01-01'), share, 0)) AS failing
     FROM (
       SELECT workspace_id, succeeded_at, failed_at, 1e0 / COUNT(*) OVER (PARTITION BY host) AS share
       FROM webhook_hosts WHERE tried_at >= ?
     ) AS recent GROUP BY workspace_id`,
    [since],
  );
}

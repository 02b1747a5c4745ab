import { query } from '../client.ts';

export type ServerSettings = {
  version: string;
  flushLogAtCommit: number;
  maxAllowedPacketBytes: number;
};

/** What the database server is set to, as far as durability and large values depend on it. */
export async function findServerSettings(): Promise<ServerSettings> {
  const [row] = await query(
    `SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flushLogAtCommit,
      @@max_allowed_packet AS maxAllowedPacketBytes`,
  );
  return row as ServerSettings;
}

/** Whether the database answers. */
export async function isDatabaseUp(): Promise<boolean> {
  try {
    await query('SELECT 1');
    return true;
  } catch {
    return false;
  }
}

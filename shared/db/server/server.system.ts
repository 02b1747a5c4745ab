import { config } from '../../config/config.ts';
import { placeOf } from '../../config/servers.ts';
import { query } from '../client.ts';

type ServerSettings = {
  version: string;
  flushLogAtCommit: number;
  maxAllowedPacketBytes: number;
};

/** The settings of the database server on which durability and large values depend. */
export async function findServerSettings(): Promise<ServerSettings> {
  const [row] = await query<ServerSettings[]>(
    `SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flushLogAtCommit,
      @@max_allowed_packet AS maxAllowedPacketBytes`,
  );
  return row!;
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

/**
 * A process cannot start, and the operator can repair the cause. The message names the cause, so no stack trace is
 * needed.
 */
export class StartFault extends Error {}

/** @throws {StartFault} where the database does not answer, or refuses this user or this database */
export async function requireDatabase(): Promise<void> {
  try {
    await query('SELECT 1');
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as { code?: string; message?: string };
    throw new StartFault(
      `MYSQL_URL: the database at ${placeOf(config.MYSQL_URL)} cannot be used (${code ?? message ?? 'no answer'}). Is it running, and are its user, password and database those of MYSQL_URL?`,
      { cause: error },
    );
  }
}

import { runId } from '../database/database-name.ts';
import { dropDatabases } from '../database/drop-databases.ts';

/** Runs once for all tests. The databases outlive the files that share them, and are dropped when the run ends. */
export default function setup(): () => Promise<void> {
  const { MYSQL_URL: mysqlUrl, REDIS_URL: redisUrl } = process.env;
  const own = runId();
  return async () => {
    if (mysqlUrl && redisUrl) await dropDatabases({ mysqlUrl, redisUrl }, ({ run }) => run === own);
  };
}

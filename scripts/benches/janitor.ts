import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { deleteKeys } from './keys.ts';
import { serve } from './serve.ts';

/**
 * Removes the database and the keys of a run when the run ends. It is a separate process: however a run ends, by
 * Ctrl-C or by kill -9, the processes that the run started get a signal to end too.
 */
const url = new URL(process.env['MYSQL_URL']!);
const name = url.pathname.slice(1);
const limitMs = 20_000;
let unawaited = 0;

async function clean(): Promise<void> {
  url.pathname = '/';
  const database = await mysql.createConnection({ uri: url.href });
  // Programs that still finish their work would find no database, and would write keys again.
  for (const since = performance.now(); performance.now() < since + limitMs; await delay(50)) {
    // MySQL's information_schema.processlist fails while any statement of the server contains bytes that are no text.
    const [rows] = await database.query<mysql.RowDataPacket[]>('SHOW PROCESSLIST');
    if (!rows.some(({ db, Id: id }) => db === name && id !== unawaited)) break;
  }
  await database.query(`DROP DATABASE IF EXISTS ${name}`);
  await database.end();
  const redis = new Redis(process.env['REDIS_URL']!, { maxRetriesPerRequest: 1 });
  await deleteKeys(redis, process.env['QUEUE_PREFIX']!);
  redis.disconnect();
}

let isEnding = false;

function end(): void {
  if (isEnding) return;
  isEnding = true;
  clean().then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`${(error as Error).stack}\n`);
      process.exit(1);
    },
  );
}

serve(
  {
    /** Sets the connection of the process that waits for us to end; we must not wait for it. */
    doNotAwait: (connectionId: number) => {
      unawaited = connectionId;
    },
  },
  end,
);

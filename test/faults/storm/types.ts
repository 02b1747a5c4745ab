import type { SmtpSink } from '../../support/servers/smtp-sink.ts';
import type { Copy } from './copies.ts';
import type { Ledger } from './ledger.ts';
import type { Receivers } from './receivers.ts';
import type { Rows } from './rows.ts';

/**
 * The shared knowledge of the storm's parts. The load and the checks run in the harness's own process and query the
 * database by shared/db/client.ts, so MYSQL_URL, REDIS_URL, SECRET_KEY and WEBHOOK_ALLOWED_NETWORKS of that process
 * are set (MYSQL_URL past the proxy) before load.ts is imported.
 */
export type World = {
  /** URLs of the web processes that are up now: a request without an answer is repeated at another one. */
  webUrls: () => string[];
  /** The load takes the `messages` out and keeps hashes of them; no other part reads the messages. */
  sink: SmtpSink;
  /** From `startReceivers` of receivers.ts. */
  receivers: Receivers;
  /** Settings of the platform's processes, such as LEASE_SECONDS. */
  settings: Record<string, string>;
};

/** Numbers from 0 to below 1, the same ones for the same seed. */
export type Random = () => number;

export type InjectedFault = {
  /** When it began, by Date.now() of the harness. */
  atMs: number;
  /** Such as `kill -9`, `SIGSTOP`, `SIGTERM`, `cut`, `freeze`, `FLUSHALL`. */
  kind: string;
  /** Such as `worker_email`, `web`, `mysql`, `redis`, `smtp`. */
  target: string;
  lastedMs: number;
};

export type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;

export type Finding = { invariant: Invariant; text: string; ids: string[] };

export type LoadOptions = {
  /** Requests a second over all workspaces and operations, without the feed readers. */
  perSecond: number;
  random: Random;
  log: (text: string) => void;
};

export type Load = {
  ledger: Ledger;
  /** Changes the number of requests a second. */
  setRate: (perSecond: number) => void;
  /**
   * Ends new requests. Open requests are repeated until they have an answer, for at most `graceMs` (default 60 s);
   * without an answer they count as `unknown`. The feed readers, the sink and the receivers go on until `close`.
   */
  stop: (options?: { graceMs?: number }) => Promise<void>;
  /** Ends the reading of feeds, sink and receivers after the last copies and deliveries. The checks come after it. */
  close: () => Promise<void>;
};

/** The input of a check: the customers' knowledge, and the rows for the facts that customers cannot see. */
export type Evidence = {
  world: Pick<World, 'webUrls' | 'settings' | 'receivers'>;
  ledger: Ledger;
  faults: readonly InjectedFault[];
  rows: Rows;
};

/** Checks one invariant after all work is done, and changes nothing. */
export type Check = (evidence: Evidence) => Promise<Finding[]> | Finding[];

export type { Copy, Ledger, Receivers, Rows };

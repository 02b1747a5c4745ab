import type { SmtpSink } from '../../support/servers/smtp-sink.ts';
import type { Copy } from './copies.ts';
import type { Ledger } from './ledger.ts';
import type { Receivers } from './receivers.ts';
import type { Rows } from './rows.ts';

/**
 * The storm's parts know this of each other. The load and the checks run in the harness's own process and ask the
 * database by shared/db/client.ts, so MYSQL_URL, REDIS_URL, SECRET_KEY and WEBHOOK_ALLOWED_NETWORKS of that process
 * are set (MYSQL_URL past the proxy) before load.ts is imported.
 */
export type World = {
  /** Of the web processes that live now: a request that got no answer is repeated at another one. */
  webUrls: () => string[];
  /** Its `messages` are taken out (and kept as hashes) by the load; nobody else reads them. */
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
  /** The deed: `kill -9`, `SIGSTOP`, `SIGTERM`, `cut`, `freeze`, `FLUSHALL`. */
  kind: string;
  /** To whom: `worker_email`, `web`, `mysql`, `redis`, `smtp`. */
  target: string;
  lastedMs: number;
};

export type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;

export type Finding = { invariant: Invariant; text: string; ids: string[] };

export type LoadOptions = {
  /** Requests a second over all workspaces and operations, the feed readers apart. */
  perSecond: number;
  random: Random;
  log: (text: string) => void;
};

export type Load = {
  ledger: Ledger;
  /** From now on so many requests a second. */
  setRate: (perSecond: number) => void;
  /**
   * No new requests. The open ones are repeated until they have an answer, within `graceMs` (default 60 s); what has
   * none then stays `unknown`. The feed readers, the sink and the receivers are still followed until `close`.
   */
  stop: (options?: { graceMs?: number }) => Promise<void>;
  /** Ends the following, with the last copies and deliveries taken in. After it come the checks. */
  close: () => Promise<void>;
};

/** The input of a check: what the customers know, and the rows for what they cannot see. */
export type Evidence = {
  world: Pick<World, 'webUrls' | 'settings' | 'receivers'>;
  ledger: Ledger;
  faults: readonly InjectedFault[];
  rows: Rows;
};

/** One invariant. It changes nothing, and it is called once everything has come to rest. */
export type Check = (evidence: Evidence) => Promise<Finding[]> | Finding[];

export type { Copy, Ledger, Receivers, Rows };

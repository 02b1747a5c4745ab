import { z } from 'zod';
import { addOnNames, withAddOns } from './add-ons.ts';
import { disagreements } from './disagreements.ts';
import { emailSettings } from './email.ts';
import { refuseSettings, settingFaults } from './faults.ts';
import { integer, isReadableFile, number } from './kinds.ts';
import { trustedProxies } from './networks.ts';
import { reportSettings } from './reports.ts';
import { hasAuthority, hasKnownParameters, isMysqlAddress, isRedisAddress } from './servers.ts';
import { smsSettings } from './sms.ts';
import { webhookSettings } from './webhooks.ts';

/**
 * Every setting: name, type, default, meaning. The only reader of process.env.
 * A blank value counts as not set, so `SMTP_URL= scripts/start` means the default.
 */
const settings = z.object({
  PORT: integer(3000, { min: 0, max: 65535 }).describe('Port of the web process'),
  BIND_ADDRESS: z.string().default('0.0.0.0').describe('Address that the web process listens on'),
  MAX_CONNECTIONS: integer(10_000, { min: 10 }).describe(
    'Connections that a web process has open at most; the limit of open files (ulimit -n) must leave room for them',
  ),
  CONNECTIONS_PER_ADDRESS: integer(6000, { min: 0 }).describe(
    'How many of them one address may have (IPv6: a /64), so that none can take all; 0 is no limit. A proxy (TRUST_PROXY) may have any number',
  ),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
    .optional()
    .describe('Address that clients call; used in Location, problem types and signatures'),
  PRODUCT_NAME: z
    .string()
    .max(60, 'must have at most 60 characters')
    .default('messaging-service')
    .describe('Name of this service to the people who see its pages, recipients of messages among them'),
  MYSQL_URL: z
    .string()
    .refine(isMysqlAddress, {
      error:
        'must be an address of the form mysql://user:password@host:port/database; several hosts with commas',
    })
    .refine(hasKnownParameters, 'must have no parameters but ssl-ca and options of the driver mysql2')
    .refine(hasAuthority, 'must name a PEM file that can be read as ssl-ca')
    .default('mysql://root@127.0.0.1:3306/messaging')
    .describe(
      `MySQL 8.4 or later, or MariaDB 10.11 or later, which holds everything. Of several hosts (host:port,host:port) the first that takes writes is used; ?ssl-ca=/path/to/ca.pem for TLS. Where it is not set, the address of an add-on of the host is taken: ${addOnNames.MYSQL_URL.join(', ')}`,
    ),
  MYSQL_POOL_SIZE: integer(20, { min: 2 }).describe(
    'Connections per process; a slow disk wants more, because commits wait side by side. The requests of one workspace hold half of them at most',
  ),
  MYSQL_TIMEOUT_SECONDS: integer(20, { min: 1 }).describe(
    'How long one statement may take; then its connection is given up, and the request gets 503',
  ),
  REDIS_URL: z
    .string()
    .refine(isRedisAddress, {
      error:
        'must be an address of the form redis://:password@host:port, redis+sentinel://:password@host:port,host:port/name or redis+cluster://:password@host:port,host:port; rediss for TLS',
    })
    .default('redis://127.0.0.1:6379')
    .describe(
      `Redis 7 or later, which holds the jobs of what is due soon: one, the Sentinels of one (redis+sentinel://…/name; their own password as ?sentinelPassword=), or nodes of a Redis Cluster (redis+cluster://…); rediss for TLS. Where it is not set, the address of an add-on of the host is taken: ${addOnNames.REDIS_URL.join(', ')}`,
    ),
  REDIS_TLS_VERIFY: z
    .stringbool()
    .default(true)
    .describe(
      'Whether the certificate of a rediss:// server must be good; some hosts sign theirs themselves',
    ),
  REDIS_TLS_CA_FILE: z
    .string()
    .refine(isReadableFile, 'must be a PEM file that can be read')
    .optional()
    .describe('PEM file of the authority that signs the certificate of a rediss:// server'),
  QUEUE_PARTITIONS: integer(1, { min: 1, max: 64 }).describe(
    'Into how many parts each queue is divided, which a Redis Cluster may have on several nodes; the same for all processes. After a change late work is found by the sweep',
  ),
  QUEUE_PREFIX: z
    .string()
    .default('{messaging}')
    .describe('Prefix of every Redis key; the braces keep all keys on one node of a Redis Cluster'),
  SECRET_KEY: z
    .string()
    .regex(
      /^[a-z0-9]+:[0-9a-f]{64}(,[a-z0-9]+:[0-9a-f]{64})*$/,
      'must be id:64hex (64 digits of 0-9 and a-f), several with commas',
    )
    .refine(hasOwnIds, 'must have another id for each key')
    .optional()
    .describe('Keys for secrets at rest: id:64hex; the first encrypts, the others still decrypt'),
  RELAY_BATCH: integer(1000, { min: 1, max: 5000 }).describe('Events numbered at a time'),
  CONTACT_SEARCHES_AT_ONCE: integer(3, { min: 1 }).describe(
    'Contact searches that a workspace may run at the same time in a web process; further searches wait for 2 seconds, and are then refused',
  ),
  CONTACT_SEARCH_SECONDS: number(5, { min: 0.1 }).describe(
    'How long one of them may take; then the server ends its statement, and it gets 503',
  ),
  LIST_COPY_WAIT_SECONDS: number(25, { min: 0, max: 60 }).describe(
    'How long a request waits for the copy into a contact list that it has asked for',
  ),
  EVENT_RETENTION_DAYS: number(7, { min: 1 }).describe(
    'Events, and deliveries to webhooks with their attempts, are kept this long; a delivery that was sent again, and its event, this long after that. A delivery that was not accepted in this time has failed',
  ),
  DEMO_API_KEY: z
    .string()
    .optional()
    .describe(
      'Offered to every visitor of /docs, to try operations with, where BIND_ADDRESS, PUBLIC_URL and the address that the browser calls are loopback ones, and no proxy stands in front; scripts/start sets it, nobody else should',
    ),
  RATE_LIMIT_PER_SECOND: number(200, { min: 0 }).describe(
    'Requests per API key with its rotations, over all web processes; twice as many at once; 0 is no limit. While Redis is away each process allows as many',
  ),
  WORKSPACE_RATE_LIMIT_PER_SECOND: number(1000, { min: 0 }).describe(
    'The same for all keys of a workspace together',
  ),
  RATE_LIMIT_WAIT_SECONDS: number(0.05, { min: 0.001 }).describe(
    'Longest wait of a request for Redis to count it; then its process counts alone for a while',
  ),
  AUTH_FAILURES_PER_MINUTE: number(60, { min: 0 }).describe(
    'Failed authentications per address (IPv6: per /64; wrong passwords of /ops also per /48, ten times as many); as many at once; 0 is no limit',
  ),
  KEY_CACHE_SECONDS: number(10, { min: 0 }).describe(
    'A changed or deleted key may work this long as before on other processes while Redis is away',
  ),
  TRUST_PROXY: trustedProxies.describe(
    'How many proxies stand in front of the platform, or their addresses. With a number, a client that reaches the process without the proxies chooses the address that its limits count for; with addresses only the proxies are trusted',
  ),
  OPS_PASSWORD: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('Opens /ops to the user "operator"; without it /ops does not exist'),
  WAKE_AHEAD_SECONDS: number(900, { min: 1 }).describe(
    'Work enters Redis this long before it is due; until then it waits in MySQL only',
  ),
  SWEEP_SECONDS: number(2, { min: 0.1 }).describe('How often missing jobs are looked for'),
  LEASE_SECONDS: number(150, { min: 1 }).describe('How long a worker may hold a row'),
  SHUTDOWN_SECONDS: number(70, { min: 1 }).describe(
    'Time to finish running work after SIGTERM. Set it at least 5 seconds above SMTP_TIMEOUT_SECONDS; otherwise an email that is being handed over may be sent twice',
  ),
  LARGE_BODIES_BYTES: integer(768 * 1024 * 1024, { min: 1024 * 1024 }).describe(
    'Bytes of request bodies over 1 MiB that a web process holds at a time, in files in the temporary folder; a workspace holds half of it at most',
  ),
  LARGE_ANSWERS_BYTES: integer(256 * 1024 * 1024, { min: 1024 * 1024 }).describe(
    'Bytes of answers over 256 KiB that a web process holds at a time until their clients have taken them; a workspace holds half of it at most; past it 503',
  ),
  LARGE_BODY_BYTES_PER_SECOND: integer(16 * 1024, { min: 0 }).describe(
    'Bytes of such a body that must arrive in a second, averaged over ten seconds; a slower body is refused (408). 0 is no limit',
  ),
  MAX_STORED_MB: number(2_000, { min: 0 }).describe(
    'Megabytes (of a million bytes) that a workspace may have stored for what is under way: bodies and attachments of emails that wait to be handed over, and the rows of batches of texts and of imports until the batch is over; scheduled ones included. As many may have the large answers that a web process keeps for Idempotency-Keys in 24 hours. 0 is no limit',
  ),
  MAX_WAITING_ROWS: integer(5_000_000, { min: 0 }).describe(
    'How many messages, emails and texts together, a workspace may have waiting; 0 is no limit',
  ),
  RENDER_THREADS: integer(2, { min: 1 }).describe('Threads that render customer templates'),
  NODE_COMPILE_CACHE: z
    .string()
    .optional()
    .describe(
      "Node's own: the folder where it keeps compiled code; processes and render threads start sooner",
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('The least that is logged'),
  LOG_TO: z
    .enum(['stdout', 'stderr'])
    .default('stdout')
    .describe('Where the log goes; scripts/admin takes stderr, so that its output is the result alone'),
  CLOCK_SHIFTABLE: z
    .stringbool()
    .default(false)
    .describe('Tests only: follow the shift in the table `clock`, for all processes at once'),
  ...emailSettings,
  ...smsSettings,
  ...reportSettings,
  ...webhookSettings,
});

const environment = withAddOns(process.env);
const given = Object.fromEntries(
  Object.keys(settings.shape).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
);
const parsed = settings.safeParse(given);
const malformed = parsed.success ? [] : settingFaults(parsed.error, settings.shape);
// All faults are reported at once: malformed settings, and settings that do not go together.
const known = wellFormed();
const publicUrl = publicUrlOf(known);
const faults = [...malformed, ...disagreements({ ...known, PUBLIC_URL: publicUrl })];
if (!parsed.success || faults.length > 0) refuseSettings(faults);

export const config = { ...parsed.data, PUBLIC_URL: publicUrl! };

/** Returns the settings that are well-formed, whatever is wrong with the others. */
function wellFormed(): Partial<z.output<typeof settings>> {
  if (parsed.success) return parsed.data;
  return Object.fromEntries(
    Object.entries(settings.shape).flatMap(([name, schema]) => {
      const one = schema.safeParse(given[name]);
      return one.success ? [[name, one.data]] : [];
    }),
  );
}

/**
 * Whether all keys have different ids. A stored secret is opened with the key of its id, so a second key with this id
 * would never be used.
 */
function hasOwnIds(keys: string): boolean {
  const ids = keys.split(',').map((key) => key.split(':')[0]);
  return new Set(ids).size === ids.length;
}

/** Returns the public URL; undefined if a setting that it is made of is malformed. */
function publicUrlOf({ PUBLIC_URL, PORT }: ReturnType<typeof wellFormed>): string | undefined {
  const isLocal = given['PUBLIC_URL'] === undefined && PORT !== undefined;
  return (isLocal ? `http://127.0.0.1:${PORT}` : PUBLIC_URL)?.replace(/\/+$/, '');
}

export const product = { name: 'messaging-service', version: '0.1.0' } as const;

export const settingSchemas: Readonly<Record<string, z.ZodType>> = settings.shape;
export const settingNames = Object.keys(settings.shape);

// A date without a zone means UTC on every host: otherwise the same template would render differently on two hosts.
process.env['TZ'] = 'UTC';

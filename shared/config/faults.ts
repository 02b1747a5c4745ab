import { z } from 'zod';

type SettingBounds = {
  type?: string;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  default?: unknown;
};

/** Exit code of a command whose settings are wrong (EX_CONFIG of sysexits.h). */
const badSettings = 78;

/** Examples of settings that have no default to show, or one that says little. */
export const examples: Record<string, string> = {
  PUBLIC_URL: 'https://api.example.com',
  MYSQL_URL: 'mysql://user:password@mysql.example:3306/messaging?ssl-ca=/etc/ssl/certs/ca-certificates.crt',
  SECRET_KEY: `k1:${'0123456789abcdef'.repeat(4)}`,
  SYSTEM_SENDER: 'Messaging <alerts@example.com>',
  TEST_SENDER: 'test@example.com',
  SPF_INCLUDE: '_spf.example.com',
  RETURN_PATH_DOMAIN: 'bounces.example.com',
  DNS_SERVERS: '192.0.2.53,192.0.2.54:5353',
  FBL_REPORTERS: 'fbl.example,reports.example',
  SMS_GATEWAYS:
    '[{"name":"acme","type":"smpp","url":"smpps://user:password@smpp.example:3550","countries":["GB"]}]',
  TRUST_PROXY: '10.0.0.0/8,192.168.1.4',
  REDIS_TLS_CA_FILE: '/etc/ssl/certs/ca-certificates.crt',
  INBOUND_TOKEN: 'at-least-16-characters',
  OPS_PASSWORD: 'at-least-16-characters',
  SHORT_LINK_URL: 'https://acme.example',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '300,900,3600',
  WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16,127.0.0.0/8',
  WEBHOOK_PUBLIC_ADDRESSES: '192.0.2.7,192.0.2.8',
  WEBHOOK_LOCAL_ADDRESS: '192.0.2.7',
};

/**
 * Returns a line for each wrong setting: its name, the expected form and an example. The value is not repeated,
 * because it may be a secret.
 */
export function settingFaults(error: z.ZodError, shape: Record<string, z.ZodType>): string[] {
  const names = [...new Set(error.issues.map(({ path: [name] }) => String(name)))];
  return names.map((name) => {
    const schema = shape[name]!;
    const issue = error.issues.find(({ path }) => path[0] === name)!;
    const bounds = boundsOf(schema);
    const example = examples[name] ?? exampleOf(bounds);
    return faultOf(name, formOf(bounds) ?? issue.message, example);
  });
}

/** Returns one line, from which an operator can copy the example. */
export function faultOf(name: string, form: string, example: string | undefined): string {
  return `${name} ${form}${example === undefined ? '' : `, for example ${name}=${quoted(example)}`}`;
}

export function boundsOf(schema: z.ZodType): SettingBounds {
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as SettingBounds;
}

/** Returns the expected form in words, for numbers and choices; other schemas have a message of their own. */
export function formOf({ type, minimum, maximum, enum: choices }: SettingBounds): string | undefined {
  if (choices) return `must be ${choices.join(' or ')}`;
  if (type === 'boolean') return 'must be true or false';
  if (type !== 'integer' && type !== 'number') return undefined;
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  const highest = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (highest !== undefined) return `must be ${kind} from ${minimum ?? 0} to ${highest}`;
  return minimum === undefined ? `must be ${kind}` : `must be ${kind} of at least ${minimum}`;
}

function exampleOf({ enum: choices, type, minimum, default: usual }: SettingBounds): string | undefined {
  if (typeof usual === 'string' || typeof usual === 'number' || typeof usual === 'boolean')
    return String(usual);
  if (Array.isArray(usual) && usual.length > 0) return usual.join(',');
  return choices?.[0] ?? (type === 'boolean' ? 'true' : minimum?.toString());
}

/** Quotes a value for a shell where necessary. */
function quoted(value: string): string {
  return /^[\w.,:/@+-]+$/.test(value) ? value : `'${value}'`;
}

/**
 * Ends the process before it has started anything. The operator reads which settings to correct, and no stack trace.
 */
export function refuseSettings(faults: readonly string[]): never {
  const title = faults.length === 1 ? 'A setting is wrong' : `${faults.length} settings are wrong`;
  process.stderr.write(`${title}:\n${faults.map((fault) => `  ${fault}\n`).join('')}`);
  process.exit(badSettings);
}

import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import { z } from 'zod';
import { isCountry } from '../formats/country.ts';

const country = z.string().refine(isCountry, 'must be a country code of two capital letters, such as GB');
const certificate = z
  .string()
  .refine(isCertificate, 'must be a certificate in PEM, from -----BEGIN CERTIFICATE----- on');
/** The days of a relative time in SMPP (§7.1.1) have two digits, up to 30. */
const mostValidityHours = 30 * 24 + 23;
const prefix = z
  .string()
  .regex(/^\+[1-9]\d{0,14}$/, 'must be the beginning of a number in E.164, such as +4474');

/** The settings of every type. A gateway without countries, prefixes and senders fits every message. */
const common = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,19}$/, 'must be of at most 20 small letters, digits and hyphens'),
  countries: z.array(country).min(1).optional(),
  prefixes: z.array(prefix).min(1).optional(),
  senders: z.array(z.string().min(1)).min(1).optional(),
  /**
   * The gateway with the lowest priority comes first. Gateways of one priority share the messages by weight. The
   * default is the gateway's place in the list.
   */
  priority: z.number().int().min(0).optional(),
  weight: z.number().positive().default(1),
};

const idForm = z.enum(['text', 'hex', 'decimal']).default('text');

const Smpp = z
  .strictObject({
    ...common,
    type: z.literal('smpp'),
    url: z.string(),
    systemType: z.string().max(12).default(''),
    /** For a carrier with its own certificate authority. */
    ca: certificate.optional(),
    /** The sessions that each process which receives opens. */
    binds: z.number().int().min(1).max(8).default(1),
    /** Messages of one session that may be without their answer at a time. */
    window: z.number().int().min(1).max(1000).default(10),
    /** The rate of all processes together. */
    perSecond: z.number().positive().optional(),
    enquireSeconds: z.number().min(1).max(3600).default(30),
    longMessages: z.enum(['udh', 'udh16', 'sar', 'payload']).default('udh'),
    gsmDataCoding: z.number().int().min(0).max(255).default(0),
    defaultAlphabet: z.enum(['gsm7', 'latin1']).default('gsm7'),
    answerIds: idForm,
    receiptIds: idForm,
    validityHours: z.number().int().min(1).max(mostValidityHours).optional(),
  })
  .transform(({ url, ...settings }, context) => {
    const parsed = addressOf(url);
    if (parsed) return { ...settings, ...parsed };
    context.addIssue({
      code: 'custom',
      path: ['url'],
      message: 'must be smpp://system-id:password@host:port or smpps://',
    });
    return z.NEVER;
  });

const Http = z
  .strictObject({
    ...common,
    type: z.literal('http'),
    url: z.string().max(2048),
    /** Signs the requests to the gateway, and the requests from it. */
    secret: z.string().min(16, 'must have at least 16 characters'),
    /** For a server with its own certificate authority. */
    ca: certificate.optional(),
    /** Requests of one process that may wait for an answer at a time. */
    window: z.number().int().min(1).max(1000).default(20),
    /** The rate of all processes together. */
    perSecond: z.number().positive().optional(),
  })
  .refine(({ url }) => isHttpUrl(url), {
    path: ['url'],
    message: 'must be an address that begins with http:// or https://, without user, password and fragment',
  });

const Simulator = z.strictObject({ ...common, type: z.literal('simulator') });

const Gateways = z
  .array(z.discriminatedUnion('type', [Smpp, Http, Simulator]))
  .min(1)
  .superRefine((gateways, context) => {
    const names = gateways.map(({ name }) => name);
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is that of another gateway' });
      // Receipts of the simulator are recognized by this name.
      if ((name === 'simulator') !== (gateways[index]!.type === 'simulator'))
        context.addIssue({
          code: 'custom',
          path: [index, 'name'],
          message: 'must be simulator for the type simulator, and for no other',
        });
    });
  });

export type GatewaySettings = z.output<typeof Gateways>[number];
export type SmppSettings = Extract<GatewaySettings, { type: 'smpp' }>;
export type HttpSettings = Extract<GatewaySettings, { type: 'http' }>;

/** SMPP allows 15 and 8 characters (§5.2.1, §5.2.2); many carriers take longer passwords. */
function addressOf(url: string) {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  if (!/^smpps?:$/.test(protocol) || !hostname || !username || !/^\/?$/.test(pathname)) return null;
  const [systemId, ownPassword] = [decoded(username), decoded(password)];
  if (systemId === null || ownPassword === null) return null;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'smpps:' ? 3550 : 2775),
    isTls: protocol === 'smpps:',
    systemId,
    password: ownPassword,
  };
}

/** Decodes a part of the URL; null if it has a percent sign that is not written as %25. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^/\\\s@]+[^\s#]*$/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/**
 * Reads a list from JSON, or from the file at a path. A fault names the place and never the value, which may be a
 * password.
 */
export const gatewayList = z.string().transform((text, context): GatewaySettings[] => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  let json = text;
  if (!/^\s*\[/.test(text)) {
    try {
      json = fs.readFileSync(text, 'utf8');
    } catch {
      return refuse('must be a list in JSON, or the path of a file that can be read');
    }
  }
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return refuse('must be JSON');
  }
  const parsed = Gateways.safeParse(value);
  if (parsed.success) return parsed.data;
  return refuse(
    `must be mended: ${parsed.error.issues
      .map(
        ({ path, message }) => `${placeOf(path)} ${message.startsWith('Invalid') ? 'is not valid' : message}`,
      )
      .join('; ')}`,
  );
});

/** Returns a place in the list, such as `[1].countries[0]`. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return place === '' ? 'the list' : place;
}

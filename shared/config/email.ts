import { Resolver } from 'node:dns';
import { z } from 'zod';
import { addressOf, parseMailbox } from '../formats/email/address.ts';
import { integer, list, number } from './kinds.ts';

function areNameServers(servers: string[]): boolean {
  try {
    new Resolver().setServers(servers);
    return true;
  } catch {
    return false;
  }
}

const isDomain = (name: string): boolean => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/i.test(name);

/** Settings of sending email, of sending domains, and of what comes back. */
export const emailSettings = {
  SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: 'must be an address of the form smtp://user:password@host:port or smtps://',
    })
    .default('smtp://127.0.0.1:25')
    .describe('The relay that takes email: smtp(s)://user:password@host:port'),
  SMTP_CONNECTIONS: integer(20, { min: 1 }).describe(
    'Pooled connections per process; one workspace takes up to five sixths of them, and less beside others',
  ),
  SMTP_TIMEOUT_SECONDS: number(60, { min: 0.1 }).describe('Longest hand-over of one email'),
  EMAIL_DELIVERED_ON: z
    .enum(['dsn', 'accept'])
    .default('dsn')
    .describe(
      'dsn: a success report tells of it, which is asked for where there is a RETURN_PATH_DOMAIN; accept: the relay is the last server (development mailbox), so its 250 means delivered',
    ),
  EMAIL_CONCURRENCY: integer(40, { min: 1 }).describe(
    'Emails that a process handles at the same time in each lane; one workspace gets at most five sixths of them, and less beside others',
  ),
  EMAIL_JOBS_PER_WORKSPACE: integer(500, { min: 2 }).describe(
    'Emails of one workspace and lane that Redis holds; the others wait in MySQL',
  ),
  EMAIL_AUTHENTICATION_PER_SECOND: number(20, { min: 0 }).describe(
    'Emails of kind authentication that each process lets go before all others, for each workspace; ten times as many at once; more go as transactional ones; 0 is no limit',
  ),
  SYSTEM_SENDER: z
    .string()
    .max(256, 'must have at most 256 characters')
    .refine(
      (text) => parseMailbox(text, { allowDisplayName: true }).ok,
      'must be `a@b.example`, `Name <a@b.example>` or `"Name, Inc." <a@b.example>`',
    )
    .optional()
    .describe(
      'Sender of the mail of the platform itself, such as warnings about webhooks; none: no such mail',
    ),
  TEST_SENDER: z
    .string()
    .refine((text) => parseMailbox(text, { allowDisplayName: false }).ok, 'must be an email address')
    .transform(addressOf)
    .optional()
    .describe(
      'Address that every workspace may send from, to its verified test recipients; none: there is none',
    ),
  DNS_SERVERS: list
    .refine(areNameServers, 'must be ip or ip:port, several with commas')
    .describe('Name servers that sending domains are looked up with; none: those of the system'),
  DNS_TIMEOUT_SECONDS: number(5, { min: 0.1, max: 20 }).describe('Longest look at a domain'),
  SPF_INCLUDE: z
    .string()
    .refine(isDomain, 'must be a domain')
    .optional()
    .describe('Name whose SPF record lists the servers that email leaves from; default RETURN_PATH_DOMAIN'),
  RETURN_PATH_DOMAIN: z
    .string()
    .toLowerCase()
    .refine(isDomain, 'must be a domain')
    .optional()
    .describe(
      'Domain of bounce addresses; none: bounces go to the sender itself, and no success report is asked for',
    ),
  INBOUND_PORT: integer(2525, { min: 0, max: 65535 }).describe(
    'SMTP port of the inbound process, which takes bounces and complaints; 25 to the world',
  ),
  INBOUND_BIND_ADDRESS: z.string().default('0.0.0.0').describe('Address that the inbound process listens on'),
  INBOUND_TLS_FILE: z
    .string()
    .optional()
    .describe('PEM file with the certificate and its key, for STARTTLS of the inbound process; none: no TLS'),
  INBOUND_WAIT_SECONDS: number(3, { min: 0, max: 30 }).describe(
    'How long a bounce waits until its email is written down as sent; then it is to come again',
  ),
  INBOUND_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('Opens POST /inbound/email, which takes the same messages over HTTP; none: it does not exist'),
  FBL_REPORTERS: list
    .transform((domains) => domains.map((domain) => domain.toLowerCase()))
    .refine((domains) => domains.every(isDomain), 'must be domains, several with commas')
    .describe(
      'Domains whose DKIM signature proves a complaint (the d= of feedback loops; none whose users write mail of their own). A complaint that proves nothing suppresses marketing only',
    ),
  EMAIL_RETENTION_DAYS: number(90, { min: 8 }).describe(
    'Emails are kept this long after they were accepted, or after the time they were scheduled for; opt-out links work as long',
  ),
  MJML_PROCESSES: integer(2, { min: 1 }).describe(
    'Processes beside each web process that compile MJML, of about 150 MB each, started when there is something for them; where there is one, slow MJML of one workspace holds up that of others',
  ),
};

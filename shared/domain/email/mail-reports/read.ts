import { now } from '../../../common/clock.ts';
import { problem } from '../../../common/errors.ts';
import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import type { IncomingMail, Signature } from '../../../formats/email/mail-report.ts';
import * as sandbox from '../../../sandbox/mail.ts';
import { lookUp } from '../../../transports/dns.ts';
import { isWhole } from './head.ts';

/** The most keys that are looked up for one message; a signer needs no more than an old one and a new one. */
const mostKeys = 3;

/** Reads a message, or its beginning. */
export async function readMail(sender: string, raw: Buffer): Promise<IncomingMail> {
  return readOf(await sandbox.readMail(sender, raw));
}

/**
 * Reads the part of a message that a domain of FBL_REPORTERS has signed; null where none has. A message that was cut
 * off cannot be verified, because its body is signed as a whole. Throws service_unavailable where the key cannot be
 * looked up.
 */
export async function readOfReporter(
  sender: string,
  raw: Buffer,
  signatures: readonly Signature[],
): Promise<IncomingMail | null> {
  const trusted = signatures.filter(({ domain }) => config.FBL_REPORTERS.includes(domain));
  if (trusted.length === 0 || !isWhole(raw)) return null;
  const names = [...new Set(trusted.map(({ keyName }) => keyName))].slice(0, mostKeys);
  const answers = await lookUp(names.map((name) => ({ name, type: 'TXT' })));
  const keys = new Map<string, string[]>();
  for (const [index, answer] of answers.entries()) {
    if ('trouble' in answer) throw again(`The key of a signature is not known: ${answer.trouble}`);
    if (answer.records.length > 0) keys.set(names[index]!, answer.records);
  }
  return keys.size === 0 ? null : readOf(await sandbox.readSignedMail(sender, raw, { keys, at: now() }));
}

function readOf<T>(result: sandbox.ReadResult<T>): T {
  if (result.ok) return result.read;
  if (result.busy) throw again('Too many messages wait to be read');
  count('email_reports', { outcome: 'refused' });
  // The detail is also the answer to a mail server, which has sent no field.
  throw problem('validation_failed', {
    detail: `The message ${result.fault}.`,
    errors: { body: [result.fault] },
  });
}

function again(detail: string): Error {
  return problem('service_unavailable', { detail, retryAfterSeconds: 60 });
}

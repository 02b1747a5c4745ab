import { makeToken, readToken } from '../tracking/tokens.ts';

/** Where the reports about an email go: `bounce+{token}@{host}`, 59 characters before the @ (RFC 5321 has room for 64). */
const prefix = 'bounce+';
const purpose = 'return path';

/** The envelope sender of an email. */
export function makeReturnPath(emailId: string, host: string): string {
  return `${prefix}${makeToken(purpose, emailId)}@${host}`;
}

/**
 * The email that a return path was made for; null where it was not made here. The host is not looked at: it may be ours
 * or a customer's. Servers on the way may have changed the case.
 */
export function readReturnPath(address: string): string | null {
  const lower = address.toLowerCase();
  const local = lower.slice(0, Math.max(0, lower.lastIndexOf('@')));
  return local.startsWith(prefix) ? readToken(purpose, local.slice(prefix.length)) : null;
}

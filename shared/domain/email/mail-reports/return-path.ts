import { makeToken, readToken } from '../tracking/tokens.ts';

/** The address for reports about an email: `bounce+{token}@{host}`, 59 characters before the @ (RFC 5321 allows 64). */
const prefix = 'bounce+';
const purpose = 'return path';

/** Returns the envelope sender of an email. */
export function makeReturnPath(emailId: string, host: string): string {
  return `${prefix}${makeToken(purpose, emailId)}@${host}`;
}

/**
 * Returns the email that a return path was made for; null where it was not made here. The host is not checked: it may
 * be ours or a customer's. Servers on the way may have changed the case.
 */
export function readReturnPath(address: string): string | null {
  const lower = address.toLowerCase();
  const local = lower.slice(0, Math.max(0, lower.lastIndexOf('@')));
  return local.startsWith(prefix) ? readToken(purpose, local.slice(prefix.length)) : null;
}

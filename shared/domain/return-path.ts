import { idFromBytes, idToBytes, isId } from '../formats/ids.ts';
import { authenticationTag, isAuthenticationTag } from '../secrets.ts';

/** Where the reports about an email go: `bounce+{token}@{host}`, 59 characters before the @ (RFC 5321 has room for 64). */
const local = /^bounce\+([0-9a-z]{26})([0-9a-z]{26})$/;
const purpose = 'return path';

/** The envelope sender of an email. The token is its id and a MAC of it, so that nobody can report about another's. */
export function makeReturnPath(emailId: string, host: string): string {
  const id = emailId.slice('email_'.length);
  return `bounce+${id}${asText(authenticationTag(purpose, emailId))}@${host}`;
}

/**
 * The email that a return path was made for; null where it was not made here. The host is not looked at: it may be ours
 * or a customer's. Servers on the way may have changed the case.
 */
export function readReturnPath(address: string): string | null {
  const lower = address.toLowerCase();
  const [, id, text] = local.exec(lower.slice(0, Math.max(0, lower.lastIndexOf('@')))) ?? [];
  const emailId = `email_${id}`;
  if (!text || !isId('email', emailId) || !isId('email', `email_${text}`)) return null;
  return isAuthenticationTag(purpose, emailId, idToBytes(`email_${text}`)) ? emailId : null;
}

/** 16 bytes in the letters and digits that ids are made of. */
function asText(tag: Buffer): string {
  return idFromBytes('email', tag).slice('email_'.length);
}

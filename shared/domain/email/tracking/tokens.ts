import { authenticationTag, isAuthenticationTag } from '../../../common/secrets.ts';
import { idFromBytes, idToBytes, isId } from '../../../formats/ids.ts';

/** Returns 52 letters and digits: an email's id and a MAC of it, so that nobody can make a token for another email. */
export function makeToken(purpose: string, emailId: string): string {
  return suffix(emailId) + suffix(idFromBytes('email', authenticationTag(purpose, emailId)));
}

/** Returns the email that the token was made for; null where it was not made here for this purpose. */
export function readToken(purpose: string, token: string): string | null {
  const [, id, tag] = /^([0-9a-z]{26})([0-9a-z]{26})$/.exec(token) ?? [];
  const [emailId, tagId] = [`email_${id}`, `email_${tag}`];
  if (!isId('email', emailId) || !isId('email', tagId)) return null;
  return isAuthenticationTag(purpose, emailId, idToBytes(tagId)) ? emailId : null;
}

const suffix = (id: string) => id.slice('email_'.length);

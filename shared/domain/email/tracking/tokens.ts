import { authenticationTag, isAuthenticationTag } from '../../../common/secrets.ts';
import { idFromBytes, idToBytes, isId } from '../../../formats/ids.ts';

/** 52 letters and digits that stand for an email: its id and a MAC of it, so that nobody makes one for another's. */
export function makeToken(purpose: string, emailId: string): string {
  return suffix(emailId) + suffix(idFromBytes('email', authenticationTag(purpose, emailId)));
}

/** The email that the token was made for; null where it was not made here for this purpose. */
export function readToken(purpose: string, token: string): string | null {
  const [, id, tag] = /^([0-9a-z]{26})([0-9a-z]{26})$/.exec(token) ?? [];
  const [emailId, tagId] = [`email_${id}`, `email_${tag}`];
  if (!isId('email', emailId) || !isId('email', tagId)) return null;
  return isAuthenticationTag(purpose, emailId, idToBytes(tagId)) ? emailId : null;
}

const suffix = (id: string) => id.slice('email_'.length);

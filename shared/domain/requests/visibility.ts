import type { Caller } from '../../schemas/scopes.ts';

/** Whether nothing is covered from this caller. */
export function seesAll(caller: Caller): boolean {
  return caller.scopes.has('recipients.read') && caller.scopes.has('content.read');
}

/**
 * Covers what the caller may not see (API decisions §3): without recipients.read the recipient, without content.read
 * the subject and the content. The same for a record and for the copy of it in an event.
 */
export function show<Data extends Record<string, unknown>>(caller: Caller, data: Data): Data {
  if (seesAll(caller)) return data;
  const seesRecipients = caller.scopes.has('recipients.read');
  const seesContent = caller.scopes.has('content.read');
  const shown: Record<string, unknown> = { ...data };
  if (!seesRecipients) {
    if ('recipient' in shown) shown.recipient = null;
    // Of a text that came in, it is the sender who is somebody.
    if (shown.direction === 'inbound' && 'sender' in shown) shown.sender = null;
    // A mail server that refuses an address likes to repeat it.
    if (shown.reason && typeof shown.reason === 'object')
      shown.reason = { ...shown.reason, description: null };
    // The event of a suppression; another scope shows these with the record.
    if ('number' in shown && 'email' in shown && !caller.scopes.has('suppressions.read'))
      Object.assign(shown, { number: null, email: null, reason: null });
  }
  if (!seesContent) {
    if ('subject' in shown) shown.subject = null;
    // An email's content is an object and absent when hidden; a message's is text and null.
    if (typeof shown.content === 'object') delete shown.content;
    else if ('content' in shown) shown.content = null;
  }
  return shown as Data;
}

import type { Caller } from '../../schemas/scopes.ts';

/** Returns whether nothing is hidden from this caller. */
export function seesAll(caller: Caller): boolean {
  return caller.scopes.has('recipients.read') && caller.scopes.has('content.read');
}

/**
 * Hides what the caller may not see (API decisions §3): without recipients.read the recipient, without content.read
 * the subject and the content. A record and its copy in an event are treated the same.
 */
export function show<Data extends Record<string, unknown>>(caller: Caller, data: Data): Data {
  if (seesAll(caller)) return data;
  const seesRecipients = caller.scopes.has('recipients.read');
  const seesContent = caller.scopes.has('content.read');
  const shown: Record<string, unknown> = { ...data };
  if (!seesRecipients) {
    if ('recipient' in shown) shown.recipient = null;
    // In an inbound text, the sender is the person to hide.
    if (shown.direction === 'inbound' && 'sender' in shown) shown.sender = null;
    // A mail server that refuses an address often repeats the address in its reply.
    if (shown.reason && typeof shown.reason === 'object')
      shown.reason = { ...shown.reason, description: null };
    // These fields are in the event of a suppression. The scope suppressions.read shows them, as with the record.
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

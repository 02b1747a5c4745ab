import { asciiDomain } from './domain-name.ts';

/** One mailbox. `address` is `local@domain`: the local part as sent, the domain in lower case and punycode. */
export type Mailbox = { address: string; local: string; domain: string; displayName: string | null };

/** `message` completes a sentence that starts with the name of the field. */
type ParsedMailbox = { ok: true; mailbox: Mailbox } | { ok: false; message: string };

// RFC 5321 §4.5.3.1: a path of 256 octets with its angle brackets, a local part of 64.
const limits = { textLength: 1000, addressBytes: 254, localBytes: 64 };

// Controls, line separators, marks that turn or hide text, halves of a surrogate pair.
const unprintable =
  /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]/u;
const dotAtom = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
// `"Name, Inc" <a@b.c>`, `Name <a@b.c>` or `<a@b.c>`; RFC 5322 specials but the dot need the quotes.
const namedAddress = /^(?:"((?:[^"\\]|\\["\\])*)" *|([^"<>()[\]:;@\\,]*))<([^<> ]*)>$/;

/**
 * Reads exactly one mailbox. Refuses every form that another program could read as several mailboxes or as a
 * different one: lists, groups, comments, routes, quoted local parts, address literals. With `isSent: false` the
 * address is only compared and never sent to, so it may be longer than SMTP could carry.
 */
export function parseMailbox(
  text: string,
  { allowDisplayName, isSent = true }: { allowDisplayName: boolean; isSent?: boolean },
): ParsedMailbox {
  if (text.length > limits.textLength) return refused('is too long for an email address');
  if (unprintable.test(text)) return refused('must not contain control or invisible characters');
  if (!allowDisplayName || !text.endsWith('>')) return parseAddress(text, null, isSent);

  const parts = namedAddress.exec(text);
  if (!parts) return refused('must be one email address, alone or as `Name <a@b.example>`');
  const [, quoted, plain, address] = parts;
  const displayName = (quoted?.replace(/\\(["\\])/g, '$1') ?? plain ?? '').trim();
  // Mail programs show the name and hide the address, so an address in the name impersonates.
  if (/[@\uff20\ufe6b]/.test(displayName)) return refused('must not have an @ in the display name');
  return parseAddress(address ?? '', displayName || null, isSent);
}

/** Returns the address without its display name. A text that is no address stays as it is. */
export function addressOf(text: string): string {
  const parsed = parseMailbox(text, { allowDisplayName: true, isSent: false });
  return parsed.ok ? parsed.mailbox.address : text;
}

/**
 * Returns the key that all spellings of one mailbox share, for suppressions and test recipients. RFC 5321 lets a
 * server tell local parts apart by case, but no server in use does, and a capital letter must not get past a
 * suppression.
 */
export function compareKey(address: string): string {
  return address.toLowerCase();
}

function parseAddress(text: string, displayName: string | null, isSent: boolean): ParsedMailbox {
  const [local, typedDomain, ...more] = text.split('@');
  if (!local || !typedDomain || more.length > 0) return refused('must be exactly one email address');
  if (/[^\0-\x7f]/.test(local))
    return refused(
      'must have only ASCII before the @: other characters need SMTPUTF8, which few servers take',
    );
  if (!dotAtom.test(local)) return refused('has characters or dots before the @ that are not allowed there');
  if (isSent && local.length > limits.localBytes)
    return refused(`must have at most ${limits.localBytes} characters before the @`);

  const domain = asciiDomain(typedDomain);
  if (domain === null) return refused('must have a domain name such as example.com after the @');
  const address = `${local}@${domain}`;
  if (isSent && address.length > limits.addressBytes)
    return refused(`must be at most ${limits.addressBytes} characters long`);
  return { ok: true, mailbox: { address, local, domain, displayName } };
}

function refused(message: string): ParsedMailbox {
  return { ok: false, message };
}

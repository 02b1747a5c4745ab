import { domainToASCII } from 'node:url';

// Letters, marks and digits of any script: nothing that IDNA would turn into a dot, a slash or an escape.
const asTyped = /^[\p{L}\p{M}\p{Nd}-]+(?:\.[\p{L}\p{M}\p{Nd}-]+)+$/u;
const inAscii = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const maxBytes = 253;

/**
 * Returns a domain name of two labels or more, in lower case and punycode. Null for any other text, IP addresses
 * included.
 */
export function asciiDomain(typed: string): string | null {
  const domain = asTyped.test(typed) ? domainToASCII(typed).toLowerCase() : '';
  return inAscii.test(domain) && domain.length <= maxBytes && !/\.[0-9]+$/.test(domain) ? domain : null;
}

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Decides which addresses a webhook may reach. A name is judged by its addresses, when a connection is made. */

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** A range that webhooks may reach although it is not public. */
export type Network = readonly [IpAddress, bits: number];

/** `10.0.0.0/8`, `::1/128`, or a single address. */
export function parseNetworks(cidrs: readonly string[]): Network[] {
  return cidrs.map((cidr) => {
    const text = isIP(cidr) ? `${cidr}/${isIP(cidr) === 4 ? 32 : 128}` : cidr;
    if (!isIP(text.split('/')[0] ?? '') || !ipaddr.isValidCIDR(text))
      throw new Error(`${JSON.stringify(cidr)} is not a network like 10.0.0.0/8`);
    return ipaddr.parseCIDR(inGroups(text));
  });
}

/**
 * Writes the dotted end of an IPv6 address in hex. ipaddr.js would take `::127.0.0.1` for `::ffff:127.0.0.1`, which
 * is another address.
 */
function inGroups(ip: string): string {
  if (!ip.includes(':')) return ip;
  return ip.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)/, (_text, ...octets: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = octets.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

// Azure's metadata and agent endpoint is the only such endpoint with a public address.
const metadataAddress = '168.63.129.16';

/**
 * Whether a webhook must not reach this address. A text that is no address is forbidden too. Addresses in `own` are
 * forbidden even if they are public, unless they are in `allowed`.
 */
export function isForbiddenAddress(
  ip: string,
  allowed: readonly Network[] = [],
  own: readonly Network[] = [],
): boolean {
  if (!isIP(ip)) return true;
  const address = ipaddr.parse(inGroups(ip));
  return (!isPublic(address) || isWithin(address, own)) && !isWithin(address, allowed);
}

function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return address.toString() !== metadataAddress;
  const { parts } = address as ipaddr.IPv6;
  // Outside of 2000::/3 lie ::/96 and other forms of IPv4 that ipaddr.js calls unicast.
  return address.match(globalUnicast) && !isIsatap(parts);
}

/** RFC 5214 §6.1: under any prefix, this interface id tunnels to the IPv4 address behind it. */
function isIsatap(parts: readonly number[]): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200);
}

function isWithin(address: IpAddress, networks: readonly Network[]): boolean {
  const forms: IpAddress[] = [address];
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress())
    forms.push((address as ipaddr.IPv6).toIPv4Address());
  return networks.some(([network, bits]) =>
    forms.some((form) => form.kind() === network.kind() && form.match(network, bits)),
  );
}

/** The address in the hostname of a parsed URL, when it is one and not a name. */
export function literalAddress(hostname: string): string | null {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(host) ? host : null;
}

/** On port 25, a mail server would take a delivery for mail, and block the address that it comes from. */
const refusedPorts = new Set(['0', '25']);

/**
 * Returns why a webhook may not have this URL, or null. A name passes here, because its addresses are checked at each
 * connection.
 */
export function webhookUrlProblem(text: string, allowed: readonly Network[] = []): string | null {
  if (Array.from(text).length > 2048) return 'must be at most 2048 characters long';
  // The URL parser would silently remove these characters, so the stored URL would differ from the called one.
  if (/\p{Cc}/u.test(text)) return 'must not contain control characters';
  // The parser's leniency (`http:example.com`, `http:\\example.com`, blanks around) helps nobody.
  if (text.trim() !== text || !/^https?:\/\/[^/\\]/i.test(text) || !URL.canParse(text))
    return 'must be an absolute http or https URL';
  // An empty user name is refused too, though the parser drops it: text before an @ is there to look like the host.
  if (/^[^:]*:\/\/[^/\\?#]*@/.test(text)) return 'must not contain a user name or password';
  const url = new URL(text);
  const tooLong = hostNameProblem(url.hostname.replace(/\.$/, ''));
  if (tooLong) return tooLong;
  if (refusedPorts.has(url.port)) return `must not use port ${url.port}`;
  const address = literalAddress(url.hostname);
  if (address !== null && isForbiddenAddress(address, allowed)) return 'must not point to a private address';
  return null;
}

// RFC 1035 §2.3.4: a longer name cannot be looked up.
const longestHost = 253;
const longestLabel = 63;

function hostNameProblem(hostname: string): string | null {
  if (hostname.length > longestHost) return `must have a host of at most ${longestHost} characters`;
  const isLabel = ({ length }: string) => length > 0 && length <= longestLabel;
  return hostname.split('.').every(isLabel)
    ? null
    : `must have 1 to ${longestLabel} characters between the dots of its host`;
}

/**
 * Returns the network that an address counts for: an IPv4 address itself, or the first bits of an IPv6 address, the /64
 * by default. Null for a text that is no address.
 */
export function networkIn(ip: string, bits: 48 | 64 = 64): string | null {
  if (isIP(ip) === 4) return ip;
  if (!ipaddr.IPv6.isValid(ip)) return null;
  const address = ipaddr.IPv6.parse(ip);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  const prefix = address.parts.slice(0, bits / 16).map((part) => part.toString(16));
  return `${prefix.join(':')}::/${bits}`;
}

import { isIP } from 'node:net';
import { z } from 'zod';

/** `10.0.0.0/8`, `::1/128`, or a single address. */
export function isNetwork(cidr: string): boolean {
  const [address = '', bits, ...others] = cidr.split('/');
  const mostBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return (
    mostBits > 0 &&
    others.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= mostBits))
  );
}

/** Names that Express has for networks. */
const named = ['loopback', 'linklocal', 'uniquelocal'];
/** Express refuses networks of 0 bits: everybody would be a proxy. */
const isOfProxies = (entry: string) => named.includes(entry) || (isNetwork(entry) && !/\/0+$/.test(entry));

/** A number of proxies, or the addresses of proxies, as Express takes both for "trust proxy". */
export const trustedProxies = z
  .string()
  .default('0')
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .transform((entries) => (/^\d+$/.test(entries.join()) ? Number(entries[0]) : entries))
  .refine((proxies) => typeof proxies === 'number' || proxies.every(isOfProxies), {
    error:
      'must be a whole number of at least 0, or addresses and networks in CIDR form, several with commas; loopback, linklocal and uniquelocal are networks too',
  });

import type { SmppAddress } from './pdu.ts';

/** §5.2.5 and §5.2.6: a number in E.164 is international, in the plan of telephones; a name is alphanumeric, in none. */
export function addressOf(text: string): SmppAddress {
  return /^\+\d+$/.test(text)
    ? { ton: 1, npi: 1, address: text.slice(1) }
    : { ton: 5, npi: 0, address: text };
}

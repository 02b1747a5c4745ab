import { parsePhoneNumber } from './phone-number.ts';

export type SenderName = {
  /** As it is shown: a mobile number in 07 format. */
  name: string;
  /** The key that two spellings of one name share: case does not count. */
  key: string;
  isMobile: boolean;
};
type ParsedSenderName = ({ ok: true } & SenderName) | { ok: false; message: string };

const letters = /^[A-Za-z0-9_ ]{3,11}$/;
const digits = /^[0-9 ]+$/;
// Ofcom's plan: 070 are personal numbers and 076 pagers, apart from the mobiles of the Isle of Man at 07624.
const mobile = /^07(?:[1-57-9]\d{8}|624\d{6})$/;

/** Parses the sender of a text message, as people write it. */
export function parseSenderName(text: string): ParsedSenderName {
  const name = text.trim();
  if (digits.test(name)) {
    const number = name.replaceAll(' ', '');
    if (!mobile.test(number) || !parsePhoneNumber(number).ok)
      return {
        ok: false,
        message:
          'must be a UK mobile number starting 07, or have a letter or another character that is not a digit',
      };
    return { ok: true, name: number, key: number, isMobile: true };
  }
  if (!letters.test(name))
    return {
      ok: false,
      message:
        'must have 3 to 11 letters, digits, underscores or spaces, or be a UK mobile number starting 07',
    };
  return { ok: true, name, key: name.toLowerCase(), isMobile: false };
}

/** Returns the E.164 form of a name in 07 format; null for any other name. */
export function numberOfName(name: string): string | null {
  return mobile.test(name) ? `+44${name.slice(1)}` : null;
}

const keyBytes = 16;

/** Returns the keys by which a sender can be found when somebody names it: as a name, or as a number in either form. */
export function senderKeysOf(text: string): string[] {
  const name = text.trim();
  const plain = name.replaceAll(/[ ()-]/g, '');
  const british = /^(?:\+44|0)(7\d{9})$/.exec(plain)?.[1];
  const keys = british
    ? [`0${british}`, `+44${british}`]
    : [/^\+\d+$/.test(plain) ? plain : name.toLowerCase()];
  return keys.filter((key) => Buffer.byteLength(key) <= keyBytes);
}

/** Returns one form for all spellings of a sender, which is a name or a number as messages carry it. */
export function keyOfAddress(address: string): string {
  return address.toLowerCase();
}

/**
 * Returns the first spelling of a name (upper or lower case) that comes after a text in the order of bytes; null when
 * there is none. `key`: the name in lower case.
 */
export function nextSpelling(key: string, after: string): string | null {
  let shared = 0;
  while (shared < key.length && keyOfAddress(after[shared] ?? '') === key[shared]) shared += 1;
  // The longest beginning that both can have gives the nearest spelling.
  for (let at = Math.min(shared, key.length - 1); at >= 0; at -= 1) {
    const [upper, lower] = [key[at]!.toUpperCase(), key[at]!];
    const letter = [upper, lower].find((one) => at >= after.length || one > after[at]!);
    if (letter !== undefined) return after.slice(0, at) + letter + key.slice(at + 1).toUpperCase();
  }
  return null;
}

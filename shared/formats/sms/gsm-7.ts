/**
 * Splits a text into the parts of a text message (3GPP TS 23.038): in the GSM alphabet if it has all characters, else
 * in UCS-2, which phones read as UTF-16.
 */

export type Encoding = 'gsm7' | 'ucs2';
/**
 * Decides about characters outside the GSM alphabet. allow: the message goes in UCS-2; deny: it is refused; strip: each
 * is replaced by a similar character, or removed.
 */
export type Unicode = 'allow' | 'deny' | 'strip';

/** At least one part; together they are the text. */
export type Parted = { encoding: Encoding; parts: string[] };

// TS 23.038 §6.2.1 without the escape, and §6.2.1.1, whose characters take an escape and another septet.
const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const extension = '\f^{}\\[~]|€';

const partBytes = 140;
/**
 * The bytes that each part of a long text gives to the header by which the phone joins the parts. The header names
 * the text by 8 bits.
 */
const usualHeaderBytes = 6;
const alone = { gsm7: 160, ucs2: 70 } as const;

/** Returns the room for text beside the header: in septets, or in UCS-2 units of two bytes. */
function besideHeader(encoding: Encoding, headerBytes: number): number {
  const bits = 8 * (partBytes - headerBytes);
  return Math.floor(bits / (encoding === 'gsm7' ? 7 : 16));
}

const septets = new Uint8Array(0x2100);
for (const character of basic) septets[character.charCodeAt(0)] = 1;
for (const character of extension) septets[character.charCodeAt(0)] = 2;

/** Returns the septets that a character takes; 0 when the alphabet lacks it. */
function septetsOf(character: string): number {
  return character.length === 1 ? (septets[character.charCodeAt(0)] ?? 0) : 0;
}

/**
 * Splits a text into the parts to send. Each of several parts has a header of `headerBytes`. Never splits a pair of
 * septets or a surrogate pair.
 */
export function partsOf(text: string, headerBytes = usualHeaderBytes): Parted {
  for (const character of text)
    if (septetsOf(character) === 0) return partedAs('ucs2', text, (one) => one.length, headerBytes);
  return partedAs('gsm7', text, septetsOf, headerBytes);
}

function partedAs(
  encoding: Encoding,
  text: string,
  sizeOf: (character: string) => number,
  headerBytes: number,
): Parted {
  const room = { alone: alone[encoding], ofMany: besideHeader(encoding, headerBytes) };
  return { encoding, parts: split(text, sizeOf, room) };
}

const escapeByte = 0x1b;
// The places of the extension characters in the table that the escape leads to, in the order of `extension`.
const extensionBytes = [0x0a, 0x14, 0x28, 0x29, 0x2f, 0x3c, 0x3d, 0x3e, 0x40, 0x65];

// In the table the escape stands between Ξ and Æ.
const basicTable = [...basic.slice(0, escapeByte), '\u00a0', ...basic.slice(escapeByte)];
const bytesOfCharacters = new Map<string, number[]>([
  ...[...extension].map((character, index): [string, number[]] => [
    character,
    [escapeByte, extensionBytes[index]!],
  ]),
  ...[...basic].map((character, index): [string, number[]] => [
    character,
    [index < escapeByte ? index : index + 1],
  ]),
]);
const ofExtension = new Map(extensionBytes.map((byte, index) => [byte, extension[index]!]));

/** Encodes a text with one septet in a byte, as SMPP carries it. Throws when the alphabet lacks a character. */
export function toGsm7(text: string): Buffer {
  const bytes: number[] = [];
  for (const character of text) {
    const own = bytesOfCharacters.get(character);
    if (!own) throw new RangeError('A character is not in the GSM alphabet');
    bytes.push(...own);
  }
  return Buffer.from(bytes);
}

/** Stands for an escape at the end of a part whose character begins the next part. No text has it (Unicode §23.7). */
const cutEscape = '\ufdd1';

/**
 * Decodes bytes as phones do: an escape without a meaning shows the character of the basic table (TS 23.038
 * §6.2.1.1). `isPart`: another part may follow, so an escape at the end is kept for `joinParts`.
 */
export function fromGsm7(bytes: Uint8Array, { isPart = false } = {}): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]! & 0x7f;
    const isLast = at + 1 === bytes.length;
    if (byte !== escapeByte || isLast) {
      text += isPart && byte === escapeByte ? cutEscape : basicTable[byte]!;
      continue;
    }
    at += 1;
    text += ofExtension.get(bytes[at]! & 0x7f) ?? basicTable[bytes[at]! & 0x7f]!;
  }
  return text;
}

/** Joins the decoded parts of a text. Some phones split a pair of septets between two parts. */
export function joinParts(parts: string[]): string {
  return parts.join('').replaceAll(/\ufdd1(.?)/gsu, (_, next: string) => {
    if (next === '' || next === cutEscape) return basicTable[escapeByte]!;
    return ofExtension.get(bytesOfCharacters.get(next)?.at(-1) ?? 0) ?? next;
  });
}

/** Returns the text to send under this `unicode` setting, or why it is refused. */
export function adapt(
  text: string,
  unicode: Unicode,
): { ok: true; text: string } | { ok: false; message: string } {
  if (unicode === 'allow') return { ok: true, text };
  if (unicode === 'strip') return { ok: true, text: strip(text) };
  const outside = new Set([...text].filter((character) => septetsOf(character) === 0));
  return outside.size === 0 ? { ok: true, text } : { ok: false, message: denial(outside) };
}

function split(
  text: string,
  sizeOf: (character: string) => number,
  room: { alone: number; ofMany: number },
): string[] {
  const starts = [0];
  let used = 0;
  let total = 0;
  let index = 0;
  for (const character of text) {
    const size = sizeOf(character);
    if (used + size > room.ofMany) {
      starts.push(index);
      used = 0;
    }
    used += size;
    total += size;
    index += character.length;
  }
  if (total <= room.alone) return [text];
  return starts.map((start, part) => text.slice(start, starts[part + 1]));
}

const mostNamed = 10;

function denial(outside: Set<string>): string {
  const names = [...outside].slice(0, mostNamed).map(nameOf).join(', ');
  const further = outside.size > mostNamed ? ` and ${outside.size - mostNamed} more` : '';
  return `has characters that are not in the GSM alphabet: ${names}${further}`;
}

const unseen = /[\p{C}\p{M}\p{Z}]/u;

/** Names a character with its code point, as many look alike and some are invisible. */
function nameOf(character: string): string {
  const number = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  return unseen.test(character) ? number : `${character} (${number})`;
}

/** Characters that people take for one another, although Unicode does not link them. */
const likenesses: Record<string, string> = {
  "'": '`´‘’‚‛′ʹʻʼʽˈ‹›',
  '"': '“”„‟″«»〝〞',
  '-': '‐‑‒–—―−⁃',
  '*': '•·●▪∙',
  '/': '⁄∕÷',
  '\n': '\u0085\u2028\u2029\v',
  ' ': '\t\u1680',
  ',': '、，',
  '.': '。',
  x: '×',
  ss: 'ẞ',
  oe: 'œ',
  OE: 'Œ',
  th: 'þ',
  TH: 'Þ',
  d: 'đð',
  D: 'ĐÐ',
  h: 'ħ',
  H: 'Ħ',
  l: 'ł',
  L: 'Ł',
  i: 'ı',
  t: 'ŧ',
  T: 'Ŧ',
  '(c)': '©',
  '(r)': '®',
  Δ: '∆',
  Σ: '∑',
  Π: '∏',
};
// Greek capitals that the alphabet has as Latin ones.
const greek = { from: 'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', to: 'ABEZHIKMNOPTYX' };
const likenessOf = new Map([
  ...Object.entries(likenesses).flatMap(([likeness, characters]) =>
    [...characters].map((character) => [character, likeness] as const),
  ),
  ...[...greek.from].map((character, index) => [character, greek.to.charAt(index)] as const),
]);

function strip(text: string): string {
  // Composed first: é is in the alphabet, e with an accent after it is not.
  let stripped = '';
  for (const character of text.normalize('NFC'))
    stripped += septetsOf(character) ? character : plain(character);
  return stripped;
}

function plain(character: string): string {
  const likeness = likenessOf.get(character);
  if (likeness !== undefined) return likeness;
  let result = '';
  for (const piece of character.normalize('NFKD'))
    result += septetsOf(piece) ? piece : (likenessOf.get(piece) ?? '');
  return result;
}

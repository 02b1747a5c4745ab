type EncodedBody = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string };

// RFC 5322 §2.1.1 allows 998. Two less satisfy the relays that count the line end too.
const longestLine = 996;
// RFC 2045 §6.7 (5) and §6.8
const encodedLine = 76;

/**
 * Encodes a text for a body: line ends become CRLF, and everything else decodes to exactly the same. Adds no line end
 * at the end.
 */
export function encodeBody(text: string): EncodedBody {
  if (isSafeAsItIs(text)) return { encoding: '7bit', body: text.replace(/\r?\n/g, '\r\n') };
  const bytes = Buffer.from(text, 'utf8');
  return beyondAscii(bytes) * 6 > bytes.length
    ? { encoding: 'base64', body: base64(text) }
    : { encoding: 'quoted-printable', body: quotedPrintable(bytes) };
}

/**
 * Tells whether a text can go unencoded, because no relay has a reason to change it. Relays do change a lone CR, a
 * `From ` at a line start and spaces at a line end.
 */
function isSafeAsItIs(text: string): boolean {
  return (
    !/[^\t\r\n\x20-\x7e]/.test(text) &&
    !/\r(?!\n)|[ \t](?:\r?\n|$)|(?:^|\n)(?:From |--)/.test(text) &&
    !hasLineOver(longestLine, text)
  );
}

function hasLineOver(limit: number, text: string): boolean {
  for (let start = 0; start + limit < text.length; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > limit) return true;
    if (end < 0) return false;
    start = end + 1;
  }
  return false;
}

function beyondAscii(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) if ((bytes[at] as number) > 0x7f) count += 1;
  return count;
}

function base64(text: string): string {
  const encoded = Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'utf8').toString('base64');
  return (encoded.match(/.{1,76}/g) ?? []).join('\r\n');
}

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const EQUALS = 0x3d;
const from = Buffer.from('From ');
const hexDigits = Buffer.from('0123456789ABCDEF', 'latin1');

function quotedPrintable(bytes: Buffer): string {
  // At worst three characters a byte and a soft line end (3) after every 25 bytes.
  const out = Buffer.allocUnsafe(bytes.length * 4 + 16);
  let length = 0;
  let column = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    const next = at + 1 < bytes.length ? (bytes[at + 1] as number) : LF;
    if (byte === LF || (byte === CR && next === LF && at + 1 < bytes.length)) {
      out[length++] = CR;
      out[length++] = LF;
      column = 0;
      if (byte === CR) at += 1;
      continue;
    }
    const isSpace = byte === SPACE || byte === TAB;
    const isLiteral = isSpace
      ? next !== LF && next !== CR
      : byte > SPACE && byte < 0x7f && byte !== EQUALS && !startsFrom(bytes, at);
    if (column + (isLiteral ? 1 : 3) > encodedLine - 1) {
      out[length++] = EQUALS;
      out[length++] = CR;
      out[length++] = LF;
      column = 0;
    }
    if (isLiteral) {
      out[length++] = byte;
      column += 1;
    } else {
      out[length++] = EQUALS;
      out[length++] = hexDigits[byte >> 4] as number;
      out[length++] = hexDigits[byte & 15] as number;
      column += 3;
    }
  }
  return out.toString('latin1', 0, length);
}

/**
 * Tells whether `From ` starts here. Mailboxes kept as one file turn it into `>From ` at a line start, and a soft
 * line break can make any place a line start.
 */
function startsFrom(bytes: Buffer, at: number): boolean {
  return bytes[at] === from[0] && at + 5 <= bytes.length && bytes.compare(from, 0, 5, at, at + 5) === 0;
}

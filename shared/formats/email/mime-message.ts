import { hash } from 'node:crypto';
import { encodeWord, foldLines } from 'nodemailer/lib/mime-funcs';
import { type Attachment, type EncodedLines, fieldsOf, linesOf } from './mime-message/attachment.ts';
import { encodeBody } from './mime-message/body.ts';

export { type Attachment, cleanFilename, type EncodedLines } from './mime-message/attachment.ts';

export type OutgoingEmail = {
  /** Without its angle brackets. */
  messageId: string;
  date: Date;
  from: { address: string; displayName: string | null };
  to: string | { address: string; displayName: string | null };
  subject: string;
  html: string | null;
  text: string | null;
  /** Further headers, such as List-Unsubscribe. */
  headers: Record<string, string>;
};

/**
 * A message whose attachments are encoded while it is sent. `head` ends with the last header. Each piece of the body
 * starts at the start of a line.
 */
export type MessageParts = { head: string; body: (Buffer | EncodedLines)[] };

type Part = { fields: [name: string, value: string][]; body: string };

const atomWords = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/;
const plainWords = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
const ownFields = /^(from|to|subject|message-id|date|mime-version|content-.*|dkim-signature|bcc|cc|sender)$/i;
const lineLength = 76;
// A word cannot be folded, and a line has at most 998 characters (RFC 5322 §2.1.1).
const longestWord = 900;

/**
 * Builds the message for the wire: ASCII, lines of at most 998 characters that end in CRLF (RFC 5322 §2.1.1). The
 * same email always gives the same bytes, so that a second copy can be recognised. Expects addresses that
 * parseMailbox has checked. Throws a TypeError for a value that could start a header of its own.
 */
export async function composeMessage(email: OutgoingEmail): Promise<Buffer> {
  const content = contentOf(email);
  return latin1(`${head(email, content.fields)}\r\n${content.body}`);
}

/** Builds the message with attachments after the text. */
export function composeWithAttachments(email: OutgoingEmail, attachments: Attachment[]): MessageParts {
  const content = contentOf(email);
  const boundary = boundaryOf('mixed', email);
  return {
    head: head(email, [['Content-Type', `multipart/mixed;\r\n boundary="${boundary}"`]]),
    body: [
      latin1(`--${boundary}\r\n${headers(content.fields)}\r\n${content.body}`),
      ...attachments.flatMap((one) => [
        latin1(`--${boundary}\r\n${headers(fieldsOf(one))}\r\n`),
        linesOf(one),
      ]),
      latin1(`--${boundary}--\r\n`),
    ],
  };
}

/** Returns the whole message as a stream, which is built anew each time it is opened. */
export function streamOf({ head, body }: MessageParts): {
  sizeBytes: number;
  open: () => AsyncIterable<Buffer>;
} {
  const start = latin1(`${head}\r\n`);
  return {
    sizeBytes: body.reduce(
      (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.sizeBytes),
      start.length,
    ),
    open: async function* () {
      yield start;
      for (const piece of body)
        if (Buffer.isBuffer(piece)) yield piece;
        else yield* piece.open();
    },
  };
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function head(email: OutgoingEmail, contentFields: [string, string][]): string {
  const fields: [string, string][] = [
    ['From', mailbox(email.from.address, email.from.displayName)],
    [
      'To',
      typeof email.to === 'string' ? address(email.to) : mailbox(email.to.address, email.to.displayName),
    ],
    ['Subject', text('Subject', email.subject)],
    ['Message-ID', `<${address(email.messageId)}>`],
    ['Date', email.date.toUTCString().replace('GMT', '+0000')],
    ['MIME-Version', '1.0'],
    ...Object.entries(email.headers).map(([name, value]): [string, string] => [
      fieldName(name),
      text(name, value),
    ]),
  ];
  return headers([...fields, ...contentFields]);
}

// A text that holds the boundary cannot end its part: a text with a line that starts with `--` is encoded, and the
// encoding replaces `=_`.
function boundaryOf(kind: 'alternative' | 'mixed', { messageId }: OutgoingEmail): string {
  const seed = kind === 'alternative' ? messageId : `${kind} ${messageId}`;
  return `--=_${hash('sha256', seed, 'hex').slice(0, 32)}`;
}

function contentOf(email: OutgoingEmail): Part {
  const boundary = boundaryOf('alternative', email);
  const parts = [
    ...(email.text === null && email.html !== null ? [] : [part('plain', email.text ?? '')]),
    ...(email.html === null ? [] : [part('html', email.html)]),
  ];
  const [only, ...more] = parts as [Part, ...Part[]];
  if (more.length === 0) return { ...only, body: `${only.body}\r\n` };
  return {
    fields: [['Content-Type', `multipart/alternative;\r\n boundary="${boundary}"`]],
    body: `${parts.map((one) => `--${boundary}\r\n${headers(one.fields)}\r\n${one.body}\r\n`).join('')}--${boundary}--\r\n`,
  };
}

function part(subtype: string, content: string): Part {
  const { encoding, body } = encodeBody(content);
  return {
    fields: [
      ['Content-Type', `text/${subtype}; charset=utf-8`],
      ['Content-Transfer-Encoding', encoding],
    ],
    body,
  };
}

function headers(fields: [string, string][]): string {
  return fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

function fieldName(name: string): string {
  if (!/^[\w-]+$/.test(name) || ownFields.test(name)) throw new TypeError(`Not a further header: ${name}`);
  return name;
}

function address(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value) || /[<>"(),:;[\]\\]/.test(value)) throw new TypeError('Not an address');
  return value;
}

function mailbox(value: string, displayName: string | null): string {
  const inBrackets = `<${address(value)}>`;
  if (!displayName) return address(value);
  const name = oneLine(displayName);
  const written = atomWords.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
  // An encoded name can be folded anywhere, and a quoted one nowhere.
  const isPlain = /^[\x20-\x7e]*$/.test(name) && !name.includes('=?') && written.length <= longestWord;
  return isPlain ? `${written}\r\n ${inBrackets}` : fold('From', `${encoded(name)} ${inBrackets}`);
}

/** Writes an unstructured field (RFC 5322 §2.2.1), encoded where plain text would not arrive unchanged (RFC 2047). */
function text(name: string, value: string): string {
  const line = oneLine(value);
  const isPlain = plainWords.test(line) && !line.includes('=?') && !hasWordOver(longestWord, line);
  return line === '' ? '' : fold(name, isPlain ? line : encoded(line));
}

function hasWordOver(limit: number, line: string): boolean {
  return line.length > limit && line.split(' ').some((word) => word.length > limit);
}

/** Rendered text can hold anything; a line end in a header would start the next one. */
function oneLine(value: string): string {
  return value.toWellFormed().replace(/\r\n|[\p{Cc}\u2028\u2029]/gu, ' ');
}

function encoded(value: string): string {
  const ascii = value.replace(/[^\x20-\x7e]/g, '').length;
  return encodeWord(value, ascii * 2 > value.length ? 'Q' : 'B', 52);
}

function fold(name: string, value: string): string {
  const start = name.length + 2;
  return start + value.length <= lineLength
    ? value
    : foldLines(`${name}: ${value}`, lineLength).slice(start).trimStart();
}

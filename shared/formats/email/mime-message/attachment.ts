import mime from 'mime';
import { buildHeaderParam } from 'nodemailer/lib/mime-funcs';
import { encodedSize, encodeLines } from '../../base64.ts';

export type Attachment = {
  /** As cleanFilename makes it. */
  filename: string;
  sizeBytes: number;
  /** The bytes, from the start at every call; each piece but the last is a multiple of 57. */
  open: () => AsyncIterable<Buffer>;
};

/** A piece of a body that is built while it is sent. It has only whole lines, and no spaces. */
export type EncodedLines = { sizeBytes: number; open: () => AsyncIterable<Buffer> };

// Marks that reorder the text after them: with such a mark, a name that ends in `exe` can look as if it ended in `pdf`.
const bidiMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes folders and invisible characters from a name. Empty when nothing is left. */
export function cleanFilename(name: string): string {
  const bare = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\u2028\u2029]/gu, '')
    .replace(bidiMarks, '');
  const last = bare.slice(Math.max(bare.lastIndexOf('/'), bare.lastIndexOf('\\')) + 1).trim();
  return /^\.*$/.test(last) ? '' : [...last].slice(0, 255).join('');
}

/**
 * Derives the type from the name. A type chosen by the caller could make a receiver run a file whose name looks
 * harmless.
 */
export function typeOfFile(filename: string): string {
  // The library takes a name without a dot for an extension.
  const type = filename.includes('.') ? mime.getType(filename) : null;
  // These may not be base64 (RFC 2046 §5.1, §5.2.1).
  return type === null || /^(multipart|message)\//.test(type) ? 'application/octet-stream' : type;
}

export function fieldsOf({ filename }: Attachment): [name: string, value: string][] {
  return [
    ['Content-Type', typeOfFile(filename)],
    ['Content-Transfer-Encoding', 'base64'],
    ['Content-Disposition', ['attachment', ...parameters(filename)].join(';\r\n ')],
  ];
}

const plainName = /^[\w.,+ ()[\]&$#@!~^{}=-]{1,60}$/;

/** Writes the name in quotes where all mail programs read it alike, else encoded and in pieces (RFC 2231 §3, §4). */
function parameters(filename: string): string[] {
  if (plainName.test(filename) && !filename.includes('=?')) return [`filename="${filename}"`];
  const pieces = buildHeaderParam('filename', filename, 60);
  // A single piece is no continuation, and more mail programs read it without a number.
  const [only] = pieces.length === 1 ? pieces : [];
  if (only?.key === 'filename*0*') return [`filename*=${only.value}`];
  return pieces.map(({ key, value }) =>
    key.endsWith('*') ? `${key}=${value}` : `${key}="${value.replace(/["\\]/g, '\\$&')}"`,
  );
}

export function linesOf({ sizeBytes, open }: Attachment): EncodedLines {
  return {
    sizeBytes: encodedSize(sizeBytes),
    open: async function* () {
      for await (const bytes of open()) yield encodeLines(bytes);
    },
  };
}

import { isUtf8 } from 'node:buffer';
import { problem } from '../../shared/errors.ts';

export const maxDepth = 32;
const byteOrderMark = 0xfeff;

/** The JSON object that the bytes spell; an empty body is an empty object. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw notUtf8();
  checkDepth(bytes);
  return parseJson(bytes.toString());
}

/** The same for text that is known to be not too deep for whatever walks it. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text);
  } catch {
    throw malformed();
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw problem('malformed_json', { detail: 'The body must be one JSON object.' });
  return value;
}

/** What the parser says quotes the body, which may be confidential. */
export function malformed() {
  return problem('malformed_json', { detail: 'The body is not valid JSON.' });
}

export function notUtf8() {
  return problem('malformed_json', { detail: 'The body is not valid UTF-8.' });
}

export function tooDeep() {
  return problem('malformed_json', { detail: `The body is nested deeper than ${maxDepth} levels.` });
}

/**
 * Deep nesting parses, but then overflows the stack of whatever walks it. Strings are skipped by a native search.
 */
function checkDepth(bytes: Buffer): void {
  let depth = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte === 0x22) {
      index = endOfString(bytes, index);
      if (index < 0) return;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > maxDepth) throw tooDeep();
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
}

/** Where the string that opens at `start` closes; -1 when it does not. */
function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(0x22, start + 1);
  while (end > 0) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = bytes.indexOf(0x22, end + 1);
  }
  return -1;
}

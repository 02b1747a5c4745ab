import { isUtf8 } from 'node:buffer';
import { problem } from '../../shared/errors.ts';
import { hasFewValues, mostValues, type Path, startScan } from './json-scan.ts';

const byteOrderMark = 0xfeff;

/** The JSON object that the bytes spell; an empty body is an empty object. `freeForm`: where it has objects of free form. */
export function parseBody(bytes: Buffer, freeForm: readonly Path[], most: number = mostValues): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw notUtf8();
  if (hasFewValues(bytes)) return parseJson(bytes.toString());
  const scan = startScan({ freeForm, most });
  scan.take(bytes, 0);
  return parseJson(scan.text());
}

/** The same for text that has been scanned. */
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

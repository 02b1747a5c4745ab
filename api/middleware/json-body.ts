import { isUtf8 } from 'node:buffer';
import { problem } from '../../shared/errors.ts';
import { jsonFaultPlace } from '../../shared/formats/json-fault.ts';
import { hasFewValues, mostValues, type Path, startScan } from './json-scan.ts';

const byteOrderMark = 0xfeff;

/** The JSON object that the bytes spell; an empty body is an empty object. `freeForm`: where it has objects of free form. */
export function parseBody(bytes: Buffer, freeForm: readonly Path[], most: number = mostValues): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw notUtf8();
  if (hasFewValues(bytes)) return parseJson(bytes.toString());
  const scan = startScan({ freeForm, most });
  scan.take(bytes, 0);
  return parseJson(scan.text(), () => bytes.toString());
}

/** The same for text that has been scanned. `written`: as it was sent, of which the scan leaves out long blanks and texts. */
export function parseJson(text: string, written: (() => string) | null = () => text): unknown {
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(text));
  } catch {
    throw malformed(written && jsonFaultPlace(withoutMark(written())));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw problem('malformed_json', { detail: 'The body must be one JSON object.' });
  return value;
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}

/** What the parser says quotes the body, which may be confidential; where it stopped does not. */
export function malformed(place: { line: number; column: number } | null = null) {
  const where = place ? ` at line ${place.line}, column ${place.column}` : '';
  return problem('malformed_json', { detail: `The body is not valid JSON${where}.` });
}

export function notUtf8() {
  return problem('malformed_json', { detail: 'The body is not valid UTF-8.' });
}

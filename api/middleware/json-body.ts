import { isUtf8 } from 'node:buffer';
import { problem } from '../../shared/common/errors.ts';
import { jsonFaultPlace, type TextPosition } from '../../shared/formats/json-fault.ts';
import { hasFewValues, mostValues, type Path, startScan } from './json-scan.ts';

const byteOrderMark = 0xfeff;

/** Parses bytes to a JSON object; no bytes are an empty object. `freeForm`: the places of its free-form objects. */
export function parseBody(bytes: Buffer, freeForm: readonly Path[], most: number = mostValues): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw notUtf8();
  if (hasFewValues(bytes)) return parseJson(bytes.toString());
  const scan = startScan({ freeForm, most });
  scan.take(bytes, 0);
  return parseJson(scan.text(), () => jsonFaultPlace(bytes.toString()));
}

/**
 * Parses JSON text. `faultPlace` finds the fault in the body as it was sent: a scan leaves out long blanks and texts.
 */
export function parseJson(text: string, faultPlace = () => jsonFaultPlace(text)): unknown {
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(text));
  } catch {
    throw malformed(faultPlace());
  }
  return objectOf(value);
}

/** Returns the value if it is an object; throws malformed_json otherwise. */
export function objectOf(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw problem('malformed_json', { detail: 'The body must be one JSON object.' });
  return value;
}

export function withoutMark(text: string): string {
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}

/** The parser's own words quote the body, which may be confidential; the place where it stopped does not. */
export function malformed(place: TextPosition | null = null) {
  const where = place ? ` at line ${place.line}, column ${place.column}` : '';
  return problem('malformed_json', { detail: `The body is not valid JSON${where}.` });
}

export function notUtf8() {
  return problem('malformed_json', { detail: 'The body is not valid UTF-8.' });
}

import { isUtf8 } from 'node:buffer';
import { parseBody, parseJson } from '../../../api/middleware/json-body.ts';
import { startScan } from '../../../api/middleware/json-scan.ts';
import { jsonFault } from '../../../shared/formats/json-size.ts';
import { json } from '../grammars/json.ts';
import { claimEqual, kib, orRefused, type Target } from './target.ts';

const freeForm = [['template', 'data'], ['a']];
const largeTexts = [
  ['template', 'data'],
  ['a', '*'],
];
const marker = 'left out: 5f0c ';

/** Scans a body in pieces, which leaves long texts out, and puts these back: the result must equal the whole body. */
function inPieces(bytes: Buffer): unknown {
  const scan = startScan({ freeForm, largeTexts, marker });
  const length = 5 + (bytes.length % 61);
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + length, bytes.length);
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end += 1;
    scan.take(bytes.subarray(at, end), at);
    at = end;
  }
  return restored(parseJson(scan.text()));

  function restored(value: unknown): unknown {
    if (typeof value === 'string') {
      if (!value.startsWith(marker)) return value;
      const { start, end } = scan.leftOut[Number(value.slice(marker.length))]!;
      return JSON.parse(`"${bytes.toString('utf8', start, end)}"`);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(restored);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, restored(one)]));
  }
}

export const jsonTargets: Target[] = [
  {
    name: 'json-body',
    grammar: json,
    mostBytes: 256 * kib,
    read(bytes) {
      const body = orRefused(() => parseBody(bytes, freeForm));
      if (body === null || bytes.length === 0) return;
      claimEqual(body, JSON.parse(bytes.toString().replace(/^\ufeff/, '')), 'it is read as another value');
      jsonFault(body, { length: kib * kib, levels: 64 });
    },
  },
  {
    name: 'json-pieces',
    grammar: json,
    mostBytes: 256 * kib,
    read(bytes) {
      if (!isUtf8(bytes) || bytes.length === 0) return;
      const whole = orRefused(() => parseBody(bytes, freeForm));
      const pieces = orRefused(() => {
        try {
          return inPieces(bytes);
        } catch (error) {
          // The scan does not check a text that it leaves out, so its syntax error shows only when the text is read.
          if (error instanceof SyntaxError && whole === null) return null;
          throw error;
        }
      });
      if (whole !== null) claimEqual(pieces, whole, 'in pieces it is read as another value');
    },
  },
];

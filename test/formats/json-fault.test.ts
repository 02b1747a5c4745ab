import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFaultPlace } from '../../shared/formats/json-fault.ts';

test.each<[string, number, number]>([
  ['', 1, 1],
  ['{', 1, 2],
  ['{"a":1,}', 1, 8],
  ['{"a":1 "b":2}', 1, 8],
  ['{\n  "a": tru\n}', 2, 8],
  ['{"a":"x\ny"}', 1, 8],
  ['{"a":"\\x"}', 1, 7],
  ['{"a":"unclosed}', 1, 16],
  ['{"a":[1,2', 1, 10],
  ['{"a":01}', 1, 7],
  ['{"😀":1,\n"é" 2}', 2, 5],
  ["{'a':1}", 1, 2],
  ['{"a":1}}', 1, 8],
  ['{"a":{]}', 1, 7],
])('%j is no JSON from line %i, column %i on', (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonFaultPlace(text)).toEqual({ line, column });
});

test('what comes before the place can be the start of JSON, and with what is at it, it cannot', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('\u0001', '}', ']', ',', ':', '"', 'x'),
      (json, at, extra) => {
        const index = at % (json.length + 1);
        const text = json.slice(0, index) + extra + json.slice(index);
        const isJson = (candidate: string) => {
          try {
            JSON.parse(candidate);
            return true;
          } catch {
            return false;
          }
        };
        fc.pre(!isJson(text));
        const { line, column } = jsonFaultPlace(text);
        const characters = [...text.split('\n')[line - 1]!];
        // The fault cannot lie before the change, as the text up to there was valid JSON.
        const offset =
          text
            .split('\n')
            .slice(0, line - 1)
            .join('\n').length + (line > 1 ? 1 : 0);
        expect(offset + characters.slice(0, column - 1).join('').length).toBeGreaterThanOrEqual(
          Math.max(0, index - 5),
        );
        expect(column).toBeLessThanOrEqual(characters.length + 1);
      },
    ),
  );
});

import { expect, test } from 'vitest';
import { mostValues, startScan } from '../../../api/middleware/json-scan.ts';
import { outlineOf } from '../../../api/middleware/large-body/outline.ts';
import { Problem } from '../../../shared/common/errors.ts';
import { mostFreeValues } from '../../../shared/schemas/fields.ts';

const freeForm = [['template', 'data'], ['sampleData'], ['messages', '*', 'data']];
const zeros = (count: number) => `[${Array(count).fill('0').join()}]`;

/** Returns the problem that a scan of these pieces throws, or null when the scan takes all of them. */
function refusalOf(...pieces: string[]): Problem | null {
  const scan = startScan({ freeForm });
  let at = 0;
  try {
    for (const piece of pieces) {
      scan.take(Buffer.from(piece), at);
      at += Buffer.byteLength(piece);
    }
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
const fieldOf = (...pieces: string[]) => Object.keys(refusalOf(...pieces)?.options.errors ?? {});

test.each([
  ['template.data', (json: string) => `{"template":{"name":"a","data":{"x":${json}}}}`],
  ['template.data', (json: string) => `{"x":[{}],"template":{"data":{"deep":{"er":[1,${json}]}}}}`],
  ['template.data', (json: string) => `{"template":{"data":{"small":[1,2]}},"template":{"data":${json}}}`],
  ['template.data', (json: string) => `{"\\u0074emplate" : { "d\\u0061ta" : ${json}}}`],
  ['sampleData', (json: string) => `{"sampleData":${json}}`],
  ['messages[2].data', (json: string) => `{"messages":[{"data":{}},[1,2],{"a":[],"data":{"x":${json}}}]}`],
])('too many values in %s are refused under its name', (name, body) => {
  expect(fieldOf(body(zeros(mostFreeValues + 1)))).toEqual([name]);
  expect(refusalOf(body(zeros(mostFreeValues - 10)))).toBeNull();
});

test.each([
  `{"template":{"Data":${zeros(30_000)}}}`,
  `{"template":[{"data":${zeros(30_000)}}]}`,
  `{"x":{"template":{"data":${zeros(30_000)}}}}`,
  `{"messages":{"data":${zeros(30_000)}}}`,
  `{"template":{"data":{}},"other":${zeros(30_000)}}`,
  `{"template":{"data":"${'{,['.repeat(30_000)}"}}`,
])('values elsewhere do not count as those of free form: %#', (body) => expect(refusalOf(body)).toBeNull());

test('a member and an item are a value each, and structure in strings is none', () => {
  const members = Array.from({ length: mostFreeValues }, (_, index) => `"k\\"{${index}":",,[["`);
  expect(refusalOf(`{"sampleData":{${members.join()}}}`)).toBeNull();
  expect(fieldOf(`{"sampleData":{${[...members, '"one":1'].join()}}}`)).toEqual(['sampleData']);
});

// Shows A21
test('a body is refused at the value that is one too many, and nothing after it is read', async () => {
  for (const [limit, open] of [
    [mostFreeValues, '{"sampleData":{"x":1'],
    [mostValues, '{"unknown":{"x":1'],
  ] as const) {
    const piece = ',"k":1'.repeat(1_000);
    let pieces = 0;
    async function* read() {
      yield Buffer.from(open);
      for (; pieces < 900; pieces += 1) yield Buffer.from(piece);
    }
    await expect(
      outlineOf({ read }, { freeForm, largeTexts: [], bodyLimitValues: mostValues }),
    ).rejects.toBeInstanceOf(Problem);
    expect(pieces).toBe(limit / 1_000 - 1);
  }
});

test('where a body is cut makes no difference', () => {
  const body = `{"a\\\\":"\\"[","messages":[{"data":{"é":"€\\\\"}},{"data":${zeros(mostFreeValues + 1)}}]}`;
  for (let cut = 1; cut < 70; cut += 1) {
    const bytes = Buffer.from(body);
    const scan = startScan({ freeForm });
    scan.take(bytes.subarray(0, cut), 0);
    expect(() => scan.take(bytes.subarray(cut), cut)).toThrow('messages[1].data');
  }
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { counters } from '../../../api/ops/counters.ts';
import { readTree, root } from '../../architecture/tree.ts';

const [product, guides] = [/^(api|shared|workers)\/.*\.ts$/, /^api\/public\/guides\/.*\.md$/];
const textsOf = (path: RegExp) =>
  readTree()
    .filter((file) => path.test(file.path))
    .map((file) => readFileSync(join(root, file.path), 'utf8'));
const namesIn = (texts: string[], name: RegExp) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(name)].map(([, found]) => found!))),
];

test('every counter of the product is on the metrics page', () => {
  const counted = namesIn(textsOf(product), /\bcount\(\s*'([a-z_]+)'/g);
  expect(counted.length).toBeGreaterThan(40);
  expect(counted.filter((name) => !(name in counters))).toEqual([]);
});

test('every total that a guide names is on the metrics page', () => {
  const named = namesIn(textsOf(guides), /\bmessaging_([a-z_]+)_total\b/g);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !(name in counters))).toEqual([]);
});

import { expect, test } from 'vitest';
import { webhookUrlProblem } from '../../shared/formats/network-address.ts';

const label = (length: number) => 'a'.repeat(length);
const host = (length: number) => `${`${label(49)}.`.repeat(5)}${label(length - 250)}`;

// Shows A45
test('a host has at most 253 characters and a label 63, in the form in which they are looked up', () => {
  const tooLong = 'must have a host of at most 253 characters';
  const badLabel = 'must have 1 to 63 characters between the dots of its host';
  const cases: [host: string, problem: string | null][] = [
    [host(253), null],
    [`${host(253)}.`, null],
    [host(254), tooLong],
    [`${host(254)}.`, tooLong],
    [`${'a.'.repeat(900)}example`, tooLong],
    [`${label(63)}.example`, null],
    [`${label(64)}.example`, badLabel],
    [`example.${label(64)}`, badLabel],
    [label(64), badLabel],
    ['a..example', badLabel],
    ['.example', badLabel],
    ['example..', badLabel],
    // In punycode each label has more characters than letters here.
    [`${'ü'.repeat(50)}.example`, null],
    [`${'ü'.repeat(60)}.example`, badLabel],
    [`${`${'ü'.repeat(20)}.`.repeat(12)}example`, tooLong],
  ];
  for (const [name, problem] of cases)
    for (const url of [`https://${name}`, `http://${name}:8080/hook?a=b`])
      expect([url, webhookUrlProblem(url)]).toEqual([url, problem]);
});

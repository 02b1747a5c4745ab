import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCountry } from '../../../shared/formats/country.ts';
import {
  nextSpelling,
  numberOfName,
  parseSenderName,
  senderKeysOf,
} from '../../../shared/formats/sms/sender-name.ts';

test('the spellings of a name follow on each other in the order of bytes, from wherever one looks', () => {
  const all = ['AB1', 'Ab1', 'aB1', 'ab1'];
  const follow = (text: string) => all.find((one) => one > text) ?? null;
  const looked = [
    '',
    'A',
    'AB',
    'AB0',
    'AB10',
    'Ab',
    'B',
    'Z',
    '_',
    'a',
    'aA',
    'aC',
    'ab0',
    'ab2',
    'b',
    ...all,
  ];
  for (const text of looked) expect(nextSpelling('ab1', text), text).toBe(follow(text));
});

test('what can be a name is as short as a name, and is found again by its key', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ maxLength: 14 }), fc.stringMatching(/^[ 0-9A-Za-z_]{0,14}$/)),
      (text) => {
        const parsed = parseSenderName(text);
        if (!parsed.ok) return;
        expect(parsed.name).toMatch(/^[0-9A-Za-z_](?:[0-9A-Za-z_ ]{1,9})[0-9A-Za-z_]$/);
        expect(parsed.isMobile).toBe(numberOfName(parsed.name) !== null);
        expect(senderKeysOf(text)).toContain(parsed.key);
        expect(parseSenderName(parsed.name)).toEqual(parsed);
        expect(parseSenderName(parsed.name.toUpperCase())).toMatchObject({ key: parsed.key });
      },
    ),
  );
});

test('a number is of digits, so digits only are a number', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9 ]{3,14}$/), (text) => {
      const parsed = parseSenderName(text);
      if (parsed.ok) expect(numberOfName(parsed.name)).toMatch(/^\+447\d{9}$/);
    }),
  );
});

test.each([
  ['07400111222', '+447400111222'],
  ['+447400111222', null],
  ['Acme', null],
  ['07000111222', null],
])('%j stands for %j', (name, number) => expect(numberOfName(name)).toBe(number));

test('a number can be named in any form', () => {
  for (const text of ['07400111222', '+447400111222', ' +44 7400 111 222', '07400-111-222', '(07400) 111222'])
    expect(senderKeysOf(text)).toEqual(['07400111222', '+447400111222']);
  expect(senderKeysOf('+49 151 1234567')).toEqual(['+491511234567']);
  expect(senderKeysOf(' Acme LTD ')).toEqual(['acme ltd']);
  expect(senderKeysOf('x'.repeat(17))).toEqual([]);
});

test('countries are those of the standard, in capitals, and Kosovo', () => {
  expect(['GB', 'FR', 'IM', 'XK'].map(isCountry)).toEqual([true, true, true, true]);
  const others = ['UK', 'EU', 'ZZ', 'gb', 'GBR', '826', '', 'G', '__proto__', 'GB ', 'constructor'];
  expect(others.filter(isCountry)).toEqual([]);
});

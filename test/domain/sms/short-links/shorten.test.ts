import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shorten } from '../../../../shared/domain/sms/short-links/short-links.ts';
import { cpuMsOf, cpuSlowdown } from '../../../support/processes/cpu-time.ts';
import { changeSettings } from '../../../support/processes/settings.ts';

changeSettings({ SHORT_LINK_URL: 'https://s.example' });

let made = 0;
const tokens = () => `token${`${(made += 1)}`.padStart(4, '0')}`;
function urlsOf(text: string): string[] {
  const shortened = shorten(text, { makeToken: tokens });
  if (!shortened.ok) throw new Error(shortened.message);
  return shortened.links.map(({ url }) => url);
}

test('a URL gives way to a short link, and what is around it stays', () => {
  made = 0;
  expect(shorten('See https://shop.example/a?b=1#c, or call.', { makeToken: tokens })).toEqual({
    ok: true,
    text: 'See https://s.example/token0001, or call.',
    links: [{ url: 'https://shop.example/a?b=1#c', token: 'token0001' }],
  });
});

test.each([
  ['http://a.example.', 'http://a.example'],
  ['(http://a.example/b)', 'http://a.example/b'],
  ['http://a.example/b_(c)', 'http://a.example/b_(c)'],
  ['(see http://a.example/b_(c))!', 'http://a.example/b_(c)'],
  ['"http://a.example/b"', 'http://a.example/b'],
  ["'http://a.example/b'?", 'http://a.example/b'],
  ['<http://a.example/b>', 'http://a.example/b'],
  ['HTTPS://A.example/B', 'HTTPS://A.example/B'],
  ['http://a.example/?q=a,b;c', 'http://a.example/?q=a,b;c'],
  ['http://a.example/?to=https://b.example/c', 'http://a.example/?to=https://b.example/c'],
  ['请看https://a.example/b。谢谢', 'https://a.example/b'],
  ['http://müller.example/ä', 'http://müller.example/ä'],
  ['http://[2001:db8::1]/a', 'http://[2001:db8::1]/a'],
  ['http://a.example/b\nhello', 'http://a.example/b'],
  ['http://a.example…', 'http://a.example'],
])('of %j it is %s', (text, url) => {
  expect(urlsOf(text)).toEqual([url]);
});

test.each([
  'no link',
  'a.example/b',
  'ftp://a.example',
  'xhttp://a.example',
  'http://',
  'https://.',
  'http://a b',
  'javascript:alert(1)',
  'http://a..b:99999/',
  'https://s.example/abcdefghi',
])('%j stays as it is', (text) => {
  if (text === 'http://a b') expect(urlsOf(text)).toEqual(['http://a']);
  else expect(shorten(text, { makeToken: tokens })).toEqual({ ok: true, text, links: [] });
});

test('the same URL has one link however often it is there, and ten are the most', () => {
  expect(urlsOf('http://a.example http://a.example http://b.example')).toEqual([
    'http://a.example',
    'http://b.example',
  ]);
  const many = (count: number) => Array.from({ length: count }, (_, i) => `http://a.example/${i}`).join(' ');
  expect(urlsOf(`${many(10)} ${many(10)}`)).toHaveLength(10);
  expect(shorten(many(11))).toEqual({ ok: false, message: 'has more than 10 links to shorten' });
});

test('what cannot be shortened is refused, not sent as it is', () => {
  expect(shorten('http://me:secret@a.example')).toMatchObject({ ok: false });
  const longest = `http://a.example/${'😀'.repeat(2_031)}`;
  expect(urlsOf(longest)).toEqual([longest]);
  expect(shorten(`${longest}x`)).toMatchObject({ ok: false });
});

test('on a path of the platform only what is under the path is short already', () => {
  changeSettings({ SHORT_LINK_URL: 'https://p.example/l' });
  expect(urlsOf('https://p.example/l/abcdefghi https://p.example/login')).toEqual([
    'https://p.example/login',
  ]);
  changeSettings({ SHORT_LINK_URL: 'https://s.example' });
});

test('tokens are nine characters of 62, and never the same', () => {
  const seen = new Set<string>();
  for (let index = 0; index < 1_000; index += 1) {
    const shortened = shorten('http://a.example');
    if (shortened.ok) seen.add(shortened.links[0]!.token);
  }
  expect(seen.size).toBe(1_000);
  for (const token of seen) expect(token).toMatch(/^[0-9A-Za-z]{9}$/);
  expect(new Set([...seen].join('')).size).toBe(62);
});

test('whatever the text, putting the URLs back in gives it again, and shortening it again changes nothing', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'http://',
      'https://a.example',
      '/',
      '(',
      ')',
      '.',
      ' ',
      '\n',
      '"',
      '’',
      '?q=',
      '{',
      ']',
      'é',
      '。',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      const shortened = shorten(text, { makeToken: tokens });
      if (!shortened.ok) return;
      let back = shortened.text;
      for (const { url, token } of shortened.links)
        back = back.replaceAll(`https://s.example/${token}`, () => url);
      expect(back).toBe(text);
      for (const { url } of shortened.links) expect(URL.parse(url)?.protocol).toMatch(/^https?:$/);
    }),
    { numRuns: 2_000 },
  );
});

test('a megabyte of what might be URLs takes less than a second of CPU time', () => {
  // Usual is a tenth of a second; work that grows with the square of the length would take minutes.
  const slowdown = cpuSlowdown();
  for (const text of [
    'http://',
    'http://a.example/(',
    'https://a.example/))))',
    '(',
    'http://a. ',
    'http://.]',
  ])
    expect(cpuMsOf(() => shorten(text.repeat(1_000_000 / text.length))) / slowdown, text).toBeLessThan(1_000);
});

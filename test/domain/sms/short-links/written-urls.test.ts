import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shorten, writtenIn } from '../../../../shared/domain/sms/short-links/short-links.ts';
import * as liquid from '../../../../shared/formats/templates/liquid.ts';

function render(source: string, data: Record<string, unknown>): string {
  const limits = liquid.limitsOf(5_000);
  return liquid.render(liquid.parse(source, false, limits), data, new Date(), limits);
}

/** Returns the URLs of the rendered text in the form in which the source wrote them. */
function writtenOf(source: string, data: Record<string, unknown>): string[] {
  const shortened = shorten(render(source, data));
  if (!shortened.ok) throw new Error(shortened.message);
  return shortened.links.map(({ url }) => writtenIn(source)(url));
}

test.each<[string, Record<string, unknown>, string[]]>([
  ['See https://x.example/a.', {}, ['https://x.example/a']],
  ['https://x.example/{{ id }}!', { id: 7 }, ['https://x.example/{{ id }}']],
  [
    'https://x.example/{{ id | url_encode }}?a=1',
    { id: 'a b' },
    ['https://x.example/{{ id | url_encode }}?a=1'],
  ],
  ['https://{{ host }}/a', { host: 'y.example' }, ['https://{{ host }}/a']],
  ['https://x.example/{{ id }}', { id: '' }, ['https://x.example/{{ id }}']],
  [
    'https://x.example/ https://x.example/{{ id }} https://x.example/order/{{ id }}',
    { id: 7 },
    ['https://x.example/', 'https://x.example/{{ id }}', 'https://x.example/order/{{ id }}'],
  ],
  [
    '{% if vip %}https://x.example/vip{% else %}https://x.example/all{% endif %}',
    { vip: true },
    ['https://x.example/vip'],
  ],
  [
    'https://x.example/{% if vip %}vip/{{ id }}{% else %}all{% endif %}/end',
    { vip: true, id: 7 },
    ['https://x.example/{% if vip %}vip/{{ id }}{% else %}all{% endif %}/end'],
  ],
  // Liquid makes the whole URL, so the source has no written form of it.
  ['{{ link }}', { link: 'https://y.example/7' }, ['https://y.example/7']],
  ['{% assign u = "https://y.example/" | append: 7 %}{{ u }}', {}, ['https://y.example/7']],
  // Rendering is not changed, so a filter sees its usual input.
  [
    '{% capture u %}https://x.example/{{ id }}{% endcapture %}{{ u | size }} {{ u }}',
    { id: 7 },
    ['https://x.example/{{ id }}'],
  ],
])('%j with %j', (source, data, written) => {
  expect(writtenOf(source, data)).toEqual(written);
});

test('a broken source tells of nothing, and takes no time', () => {
  for (const piece of ['{%', '{{', 'http://{{', 'http://a.example/{% if %}', '{% if a %}http://'])
    expect(writtenIn(piece.repeat(10_000 / piece.length))('http://other.example/')).toMatch(/^http/);
});

test('whatever the data, links of one place in the source have one name, and the name is of the source', () => {
  const value = fc.stringMatching(/^[a-z0-9/]{0,8}$/);
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (ids) => {
      const source = 'A https://x.example/a/{{ id }}/go, B https://y.example/{{ id }}?x={{ id }} end';
      const names = new Set<string>();
      for (const id of ids) for (const name of writtenOf(source, { id })) names.add(name);
      expect([...names].toSorted()).toEqual([
        'https://x.example/a/{{ id }}/go',
        'https://y.example/{{ id }}?x={{ id }}',
      ]);
    }),
    { numRuns: 100 },
  );
});

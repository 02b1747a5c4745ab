import { Liquid } from 'liquidjs';
import { describe, expect, test } from 'vitest';
import * as liquid from '../../../shared/formats/templates/liquid.ts';

const now = new Date('2026-11-20T10:00:00.123Z');

function render(source: string, data: Record<string, unknown> = {}, escape = true): string {
  const limits = liquid.limitsOf(5000);
  return liquid.render(liquid.parse(source, escape, limits), data, now, limits);
}

/** Returns the fault of a source that must not render. */
function fault(source: string, data: Record<string, unknown> = {}, escape = true) {
  try {
    render(source, data, escape);
  } catch (error) {
    if (!(error instanceof liquid.TemplateError)) throw error;
    const { message, line, column } = error;
    return { message, line, column };
  }
  throw new Error(`it rendered: ${source.slice(0, 100)}`);
}

const order = {
  name: 'Ada & "Co"',
  total: 99.5,
  paid: false,
  lines: [
    { count: 2, name: 'tea', price: 4 },
    { count: 1, name: '<b>coffee</b>', price: 9.25 },
    { count: 7, name: null, price: 1 },
  ],
  tags: ['new', 'EU', 'new'],
  at: '2026-11-20T10:00:00Z',
  empty: [],
};

test.each([
  'plain',
  'Hello {{ name }}, {{ missing }}{{ name.missing.more }}{{ nil }}',
  '{% for line in lines %}{{ forloop.index }}/{{ forloop.length }} {{ line.count | times: line.price }}{% unless forloop.last %}, {% endunless %}{% else %}none{% endfor %}',
  '{% for i in (1..3) %}{{ i }}{% endfor %} {{ (1..4) | join: "-" }} {{ (2..5).size }} {% for i in (3..1) %}x{% endfor %}',
  '{% assign top = 3 %}{% for i in (1..top) limit: 2 offset: 1 reversed %}{{ i }} {{ forloop.rindex0 }}{% endfor %}',
  '{% if total > 50 and paid == false or name contains "x" %}yes{% elsif paid %}paid{% else %}no{% endif %}',
  '{% case lines.size %}{% when 1, 2 %}few{% when 3 %}three{% else %}many{% endcase %}',
  '{% capture list %}{% for t in tags %}{{ t | downcase }};{% endfor %}{% endcapture %}{{ list }}{{ list | raw }}',
  '{{ tags | uniq | sort | reverse | join: "," }} {{ lines | map: "name" | compact | join }} {{ lines | where: "count", 2 | size }}',
  '{{ name | escape }} {{ name | upcase | truncate: 5 }} {{ total | round }} {{ "a b" | split: " " | last }} {{ name | raw }}',
  '{{ lines | group_by: "count" | map: "name" | json }} {{ lines | json }} {{ lines | sum: "price" }}',
  '{% tablerow t in tags cols: 2 %}{{ t }}{% endtablerow %}{% cycle "a", "<b>" %}{% cycle "a", "<b>" %}{% increment n %}{% increment n %}',
  '{% raw %}{{ not liquid }}{% endraw %}{% comment %}{% include "x" %}{% endcomment %}{% # note %}{% liquid\n echo name\n%}{%- echo tags[1] -%} x',
  '{{ at | date: "%d %B %Y %H:%M" }} {{ 0 | date_to_rfc822 }} {{ at | date_to_string }} {{ at | date_to_long_string: "ordinal" }} {{ "no date" | date }}',
  '{% if empty == empty %}{% if missing == blank %}blank{% endif %}{% endif %}{{ tags.first }}{{ tags[-1] }}{{ lines[0]["name"] }}',
  '{% for a in tags %}{% for b in tags %}{% if b == "EU" %}{% continue %}{% endif %}{{ a }}{{ b }}{% break %}{% endfor %}{% endfor %}',
])('an ordinary template renders as in liquidjs: %s', (source) => {
  for (const escape of [true, false]) {
    const plain = new Liquid({
      timezoneOffset: 0,
      locale: 'en-US',
      ...(escape ? { outputEscape: 'escape' } : {}),
    });
    expect(render(source, structuredClone(order), escape)).toBe(
      plain.parseAndRenderSync(source, structuredClone(order)),
    );
  }
});

describe('escaping', () => {
  // Shows A37
  test('values are escaped in html, except after raw as the last filter, and nowhere else', () => {
    const data = { a: `<i>&"'` };
    expect(render('{{ a }} {{ a | raw }} {{ a | raw | append: "!" }} {% echo a %}', data)).toBe(
      `&lt;i&gt;&amp;&#34;&#39; <i>&"' &lt;i&gt;&amp;&#34;&#39;! &lt;i&gt;&amp;&#34;&#39;`,
    );
    expect(render('{{ a }} {{ a | raw }}', data, false)).toBe(`<i>&"' <i>&"'`);
    expect(render('{{ list }}', { list: ['<', ['>']] })).toBe('&lt;&gt;');
  });

  // Shows A38
  test('Liquid in data is text, also by way of filters and captures', () => {
    const data = { a: '{{ secret }}{% assign x = 1 %}', secret: 'no' };
    const source = '{{ a | raw }}|{% capture c %}{{ a | raw }}{% endcapture %}{{ c | append: a | raw }}';
    expect(render(source, data)).toBe(`${data.a}|${data.a}${data.a}`);
  });
});

describe('nothing outside of the data can be reached', () => {
  // Shows A35
  test.each(['include', 'render', 'layout', 'block'])('%s is not available', (tag) => {
    for (const name of [
      "'.env'",
      "'package.json'",
      "'/etc/hostname'",
      'name',
      "'__proto__'",
      "'constructor'",
    ])
      expect(fault(`one\n {% ${tag} ${name} %}`, { name: '.env' })).toEqual({
        message: `${tag} is not available here`,
        line: 2,
        column: 2,
      });
  });

  // Shows A24
  test.each(['find_exp', 'where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_index_exp', 'sample'])(
    'the filter %s is not available',
    (name) => {
      for (const source of [`{{ a | ${name}: "i", "i" }}`, `{% assign b = a | ${name}: "i", "i" %}`])
        expect(fault(source, { a: [1] }).message).toBe(`${name} is not available here`);
    },
  );

  // Shows A16, A35
  test('prototypes give nothing, and are not changed', () => {
    for (const path of [
      'constructor',
      '__proto__',
      'toString',
      'a.constructor',
      'a.__proto__',
      'a.push',
      's.length.constructor',
      'f.valueOf',
    ])
      expect(render(`{{ ${path} }}`, { a: [1], s: 'x', f: {} })).toBe('');
    const data = JSON.parse('{"__proto__":{"polluted":"own"},"constructor":"mine"}') as Record<
      string,
      unknown
    >;
    const source =
      '{% assign __proto__ = "x" %}{% capture constructor %}y{% endcapture %}{% increment toString %}{% for __proto__ in (1..2) %}{% endfor %}{{ polluted }}';
    expect(render(source, data)).toBe('0');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  // Shows A39
  test('data that looks like code is only data', () => {
    const data = JSON.parse(
      '{"f":{"valueOf":"z","toString":"q","then":"x","next":"x","toLiquid":"x","length":1e9}}',
    ) as Record<string, unknown>;
    expect(render('{% for x in f %}{{ x[0] }} {% endfor %}', data)).toBe(
      'valueOf toString then next toLiquid length ',
    );
    expect(fault('{{ f }}', data)).toEqual({
      message: 'Cannot convert object to primitive value',
      line: 1,
      column: 1,
    });
  });
});

// Shows A39
test('the data is left as it was given', () => {
  const data = { n: 5, list: [3, 1, 2] };
  render('{% increment n %}{% decrement m %}{{ list | sort | reverse }}{% assign list = 1 %}', data);
  expect(data).toEqual({ n: 5, list: [3, 1, 2] });
});

test('now and today are the given clock, in UTC', () => {
  expect(render("{{ 'now' | date: '%Y-%m-%d %H:%M:%S.%L' }}")).toBe('2026-11-20 10:00:00.123');
  expect(render("{{ 'today' | date_to_xmlschema }}")).toBe('2026-11-20T10:00:00+00:00');
  expect(render("{{ 'now' | date: '%H:%M %Z', 'Asia/Tokyo' }} {{ 'now' | date: '%H:%M %z', -90 }}")).toBe(
    '19:00 Asia/Tokyo 11:30 +0130',
  );
  expect(render("{{ now }}{% assign now = 'x' %}{{ 'now' | date: '%Y' }}")).toBe('2026');
});

test.each([
  ['{{ a | foo }}', 'unknown filter: foo', 1, 1],
  ['\n\n  {{ a | upcase | foo: 1 }}', 'unknown filter: foo', 3, 3],
  ['x\n{% foo %}', 'unknown tag: foo', 2, 1],
  ['{% if a %}\n{% endfor %}', 'unknown tag: endfor', 2, 1],
  ['one\n{% if a %}', 'tag {% if a %} not closed', 2, 1],
  ['ab {{ a', 'output "{{ a" not closed', 1, 4],
  ['{{ }}', 'invalid value expression: ""', 1, 4],
  ['{{ a | append }}', 'append expect 2 arguments', 1, 1],
  ["\n{{ '%' | url_decode }}", 'URI malformed', 2, 1],
  ["{{ 0 | date: '%d', 'Mars/Olympus' }}", 'Invalid time zone specified: Mars/Olympus', 1, 1],
])('%s is reported in words, with line and column', (source, message, line, column) => {
  for (const escape of [true, false]) expect(fault(source, {}, escape)).toEqual({ message, line, column });
});

test('no report holds a path, a stack or more than a few words of the source', () => {
  for (const source of [
    `{{ ${'a'.repeat(100_000)} | ${'f'.repeat(100_000)} }}`,
    `{% ${'t'.repeat(100_000)} %}`,
    '{% if a %}'.repeat(5000),
    "{% include '/etc/passwd' %}",
  ]) {
    const { message } = fault(source);
    expect(message.length).toBeLessThan(220);
    expect(message).not.toMatch(/node_modules|\.m?[jt]s\b|file:|\n\s+at /);
  }
});

// Shows A25
test('the output of a part ends at 1 MiB, counted in bytes', () => {
  const half = 'é'.repeat(256 * 1024);
  expect(render('{{ a }}{{ a }}', { a: half }, false)).toHaveLength(512 * 1024);
  expect(fault('{{ a }}{{ a }}{{ b }}', { a: half, b: 'x' }, false).message).toBe(
    'renders to more than 1 MiB',
  );
  expect(fault('x'.repeat(1024 * 1024 + 1)).message).toBe('renders to more than 1 MiB');
  expect(fault('{% for i in (1..20) %}{{ a }}{% endfor %}', { a: 'x'.repeat(100_000) })).toEqual({
    message: 'renders to more than 1 MiB',
    line: 1,
    column: 23,
  });
});

// Shows A25
test('captures are limited like the output', () => {
  const doubling = '{% capture c %}{{ c }}{{ c }}{% endcapture %}';
  expect(render(`{% assign c = "0123456789" %}${doubling.repeat(3)}{{ c }}`)).toBe('0123456789'.repeat(8));
  expect(fault(`{% assign c = "0123456789" %}${doubling.repeat(25)}`).message).toBe(
    'renders to more than 1 MiB',
  );
});

test('time is counted as CPU time of the render, and told apart from other limits', () => {
  const limits = liquid.limitsOf(20);
  const template = liquid.parse(
    '{% for i in (1..150000) %}{% for j in (1..150000) %}{% endfor %}{% endfor %}',
    true,
    limits,
  );
  // Time that passes outside of the render does not count against its limit.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  expect(
    liquid.render(liquid.parse('{% for i in (1..10) %}{{ i }}{% endfor %}', true, limits), {}, now, limits),
  ).toBe('12345678910');
  expect(() => liquid.render(template, {}, now, limits)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^takes longer|^needs more/) as string }),
  );
});

test('a range with numbers that cannot be counted ends', () => {
  for (const range of ['(9007199254740992..9007199254740994)', '(a..b)'])
    for (const source of [
      `{% for i in ${range} %}{% endfor %}`,
      `{{ ${range} | join }}`,
      `{{ x[${range}] }}`,
      `{% assign y = ${range} %}`,
    ])
      expect(fault(source, { a: 1e17, b: 1e17, x: [1] }).message).toBe(
        'a range has a number that is too large',
      );
  expect(render('{% for i in (a..b) %}{{ i }}{% endfor %}', { a: 'x', b: null })).toBe('');
});

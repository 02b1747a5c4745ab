import { array, assert, asyncProperty, boolean, constant, constantFrom, oneof, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as liquid from '../../../shared/formats/templates/liquid.ts';
import { compile } from '../../../shared/formats/templates/mjml.ts';

const document = (body: string, head = '') =>
  `<mjml>\n<mj-head>${head}</mj-head>\n<mj-body>\n${body}\n</mj-body>\n</mjml>`;
const column = (content: string) => `<mj-section><mj-column>${content}</mj-column></mj-section>`;
const text = (content: string) => document(column(`<mj-text>${content}</mj-text>`));

function render(source: string, data: Record<string, unknown>): string {
  const template = liquid.parse(source, true, liquid.limitsOf(5_000));
  return liquid.render(template, data, new Date(0), liquid.limitsOf(5_000));
}

async function htmlOf(source: string): Promise<string> {
  const { html, faults } = await compile(source, true);
  if (faults || html === null) throw new Error(`Not compiled: ${JSON.stringify(faults)}`);
  return html;
}

async function faultsOf(source: string, isTemplate = true): Promise<string[]> {
  const { faults } = await compile(source, isTemplate);
  return (faults ?? []).map(({ message, line, column }) => `${line}:${column} ${message}`);
}

describe('Liquid where mjml leaves text alone is in the HTML as it was written', () => {
  test.each([
    ['an output', text('Dear {{ name | upcase }},')],
    ['an output with braces and quotes', text('{{ "}}<b>" | append: name }}')],
    ['a condition', text('{% if a < 3 and b > 2 %}<b>A</b>{% else %}B{% endif %}')],
    ['a loop', text('{%- for item in items -%}<p>{{ item }}</p>{%- endfor -%}')],
    ['a tag of several lines', text('{% assign x =\n  1\n%}\n{{ x }}')],
    [
      'a button',
      document(column('<mj-button href="{{ url }}" color="{{ colour }}">{{ label }}</mj-button>')),
    ],
    ['an image', document(column('<mj-image src="{{ src }}" alt="{{ alt }}" href=\'{{ url }}\' />'))],
    [
      'a background',
      document('<mj-section background-url="{{ url }}" background-color="{{ c }}"></mj-section>'),
    ],
    [
      'a loop around sections in mj-raw',
      document(
        `<mj-raw>{% for a in b %}</mj-raw>${column('<mj-text>{{ a }}</mj-text>')}<mj-raw>{% endfor %}</mj-raw>`,
      ),
    ],
    ['a style', document(column('<mj-text>a</mj-text>'), '<mj-style>.a { color: {{ colour }}; }</mj-style>')],
    [
      'a title and a preview',
      document(
        column('<mj-text>a</mj-text>'),
        '<mj-title>{{ t }}</mj-title><mj-preview>{{ p }}</mj-preview>',
      ),
    ],
    [
      'a default of attributes',
      document(column('<mj-text>a</mj-text>'), '<mj-attributes><mj-all color="{{ c }}" /></mj-attributes>'),
    ],
    ['a text of raw Liquid', text('{% raw %}{{ name }}{% endraw %}')],
  ])('%s', async (_name, source) => {
    const html = await htmlOf(source);
    const tokens = source.match(/\{\{(?:"[^"]*"|[^}"])*\}\}|\{%[^%]*%\}/g)!;
    for (const token of tokens) expect(html).toContain(token);
    const tags = (whole: string) => whole.match(/\{%[^%]*%\}/g);
    expect(tags(html)).toEqual(tags(source));
    expect(html).not.toMatch(/lq+\d{5}z/);
  });
});

test.each([
  ['a loop around a section', document('{% for a in b %}<mj-section></mj-section>{% endfor %}')],
  [
    'a condition around a column',
    document('<mj-section>{% if a %}<mj-column></mj-column>{% endif %}</mj-section>'),
  ],
  [
    'an attribute as a whole',
    document('<mj-section {% if a %}full-width="full-width"{% endif %}></mj-section>'),
  ],
  ['an attribute that mjml reckons with', document(column('<mj-image src="a" width="{{ w }}px" />'))],
  ['an element’s name', document('<mj-{{ a }}></mj-{{ a }}>')],
  [
    'a condition over two texts',
    document(column('<mj-text>{% if a %}A</mj-text><mj-text>{% endif %}B</mj-text>')),
  ],
  [
    'a comment between elements',
    document(`<!-- {% assign a = 1 %} -->${column('<mj-text>{{ a }}</mj-text>')}`),
  ],
  [
    'a tag in a title, which comes twice',
    document(column('<mj-text>a</mj-text>'), '<mj-title>{% if a %}A{% endif %}</mj-title>'),
  ],
  [
    'a value set in the body and used in the head',
    `<mjml><mj-body>${column('<mj-text>{% assign a = 1 %}</mj-text>')}</mj-body><mj-head><mj-preview>{{ a }}</mj-preview></mj-head></mjml>`,
  ],
  [
    'a default that no element takes',
    document(column('<mj-text>a</mj-text>'), '<mj-attributes><mj-button color="{{ c }}" /></mj-attributes>'),
  ],
  [
    'a declaration in a style to be inlined',
    document(column('<mj-text>a</mj-text>'), '<mj-style inline="inline">.a { {{ b }} }</mj-style>'),
  ],
])('Liquid is to be rendered first, and not lost, in %s', async (_name, source) => {
  expect(await compile(source, true)).toEqual({ html: null });
});

test('comments of Liquid are nothing, wherever they stand', async () => {
  const html = await htmlOf(
    document(
      `{% comment %}<mj-section>{{ a }}{% endcomment %}${column('{% # note %}<mj-text>{{ b }}</mj-text>')}`,
    ),
  );
  expect(html).toContain('{{ b }}');
  expect(html).not.toContain('{{ a }}');
});

// Shows A40
test('rendering before or after compiling gives the same', async () => {
  const values = constantFrom(
    'Ada & Co',
    '<b>x</b>',
    '</mj-text><mj-raw>y',
    '"quoted"',
    "it's",
    '{{ a }}',
    '#ff0000',
  );
  const inline = constantFrom(
    '{{ a }}',
    '{{ b | upcase }}',
    '{% if c %}{{ a }}{% else %}no{% endif %}',
    '{% for x in list %}<i>{{ x }}</i>{% endfor %}',
    '{% assign d = b %}{{ d }}',
    '<b>plain</b>',
  );
  const element = oneof(
    inline.map((content) => `<mj-text>T${content}</mj-text>`),
    inline.map((content) => `<mj-raw>R${content}</mj-raw>`),
    inline.map((content) => `<mj-table><tr><td>${content}</td></tr></mj-table>`),
    inline.map(
      (content) => `<mj-button href="https://a.example/{{ a | url_encode }}">B${content}</mj-button>`,
    ),
    constant('<mj-image src="https://a.example/{{ b | url_encode }}.png" alt="{{ a }}" />'),
    constant('<mj-divider border-color="red" />'),
  );
  let compiledFirst = 0;
  await assert(
    asyncProperty(
      array(element, { minLength: 1, maxLength: 5 }),
      record({
        a: values,
        b: values,
        c: boolean(),
        list: array(values, { minLength: 1, maxLength: 3 }),
      }),
      async (elements, data) => {
        const source = document(column(elements.join('\n')));
        const { html: template } = await compile(source, true);
        if (template == null) return;
        compiledFirst += 1;
        const { html } = await compile(render(source, data), false);
        expect(render(template, data)).toBe(html);
      },
    ),
    { numRuns: 40 },
  );
  expect(compiledFirst).toBeGreaterThan(30);
});

describe('a mistake in the structure is refused with its line and column', () => {
  test.each([
    [
      'an unknown element',
      document('<mj-section>\n  <mj-unknown />\n</mj-section>'),
      '5:3 there is no element mj-unknown',
    ],
    [
      'HTML between elements',
      document(column('\n<p>a</p>')),
      '5:1 there is no element p: put HTML into mj-text, mj-table or mj-raw',
    ],
    [
      'an element in the wrong place',
      document('<mj-text>a</mj-text>'),
      '4:1 mj-text cannot be used inside mj-body, only inside:',
    ],
    ['text that would be lost', document('<mj-section>\n Hello</mj-section>'), '5:2 this text would be lost'],
    [
      'an element that is not closed',
      document('<mj-section>\n<mj-column></mj-section>'),
      '5:1 mj-column is not closed',
    ],
    ['a text that is not closed', document(column('\n<mj-text>a')), '5:1 mj-text is not closed'],
    [
      'a tag that does not end',
      document('<mj-section background-color="red></mj-section>'),
      '4:1 the tag of mj-section does not end',
    ],
    ['an end without a beginning', document('</mj-section>'), '4:1 </mj-section> closes nothing'],
    [
      'an unknown attribute',
      document('<mj-section colour="red"></mj-section>'),
      '4:1 Attribute colour is illegal',
    ],
    [
      'a value that is none',
      document('<mj-section padding="wide"></mj-section>'),
      '4:1 Attribute padding has invalid value',
    ],
    ['no body', '<mjml></mjml>', '1:1 mjml has no mj-body'],
    [
      'two bodies',
      '<mjml><mj-body></mj-body><mj-body></mj-body></mjml>',
      '1:26 there is more than one mj-body',
    ],
    ['no mjml', '<p>Hello</p>', '1:1 must be one mjml element'],
    ['nothing', '', '1:1 must be one mjml element'],
    ['two documents', '<mjml><mj-body></mj-body></mjml><mjml></mjml>', '1:33 mjml is outside of mjml'],
    [
      'an include in a text',
      text('<mj-include path="a" />'),
      '4:33 mj-include cannot be used inside mj-text',
    ],
    ['51 levels', document('<mj-wrapper>'.repeat(60)), 'is nested more than 50 levels deep'],
  ])('%s', async (_name, source, says) => {
    const faults = await faultsOf(source);
    expect(
      faults.some((fault) => fault.includes(says)),
      JSON.stringify(faults),
    ).toBe(true);
  });

  test('also after Liquid of several lines, at the place where it was written', async () => {
    const source = document(column('<mj-text>{{ a\n|\nupcase }}</mj-text>\n  <mj-unknown />'));
    expect(await faultsOf(source)).toEqual(['7:3 there is no element mj-unknown']);
  });

  test('and tells of no file and no stack', async () => {
    for (const source of [
      '<mjml',
      '\0',
      '<mjml><mj-body><mj-section foo/></mj-body>',
      document('<mj-include path="../../../package.json" />'),
    ])
      expect(JSON.stringify(await faultsOf(source))).not.toMatch(
        /node_modules|\.ts|\.js\b|\/home|\/work| at /,
      );
  });
});

test('values of attributes are left to mjml where they may come from data', async () => {
  const source = document('<mj-section background-color="{{ c }}"></mj-section>');
  expect(await faultsOf(source)).toEqual([]);
  const rendered = document('<mj-section background-color="" padding="{{ x }}"></mj-section>');
  expect(await faultsOf(rendered, false)).toEqual([]);
  expect(await faultsOf(document('<mj-section padding="wide"></mj-section>'), false)).toEqual([]);
});

// Shows A26
test('HTML of more than 1 MiB is refused', async () => {
  const { faults } = await compile(document(column('<mj-text>x</mj-text>').repeat(700)), false);
  expect(faults).toEqual([{ message: 'compiles to more than 1 MiB of HTML' }]);
});

test('a long mail with many styles is within the limits', async () => {
  const rules = Array.from({ length: 100 }, (_, index) => `.c${index} { color: #abc; padding: 1px }`).join(
    '\n',
  );
  const head = `<mj-style inline="inline">${rules}</mj-style><mj-attributes><mj-all font-family="Arial" /><mj-text padding="1px" /></mj-attributes>`;
  const sections = column('<mj-text css-class="c1">x <b>{{ a }}</b></mj-text><mj-image src="a" />').repeat(
    200,
  );
  expect(await htmlOf(document(sections, head))).toContain('{{ a }}');
});

// Shows A36
test('the html loads nothing from elsewhere but what the source names', async () => {
  const compiled = await compile(
    '<mjml><mj-body><mj-section><mj-column><mj-text font-family="Ubuntu">Hi</mj-text></mj-column></mj-section></mj-body></mjml>',
    true,
  );
  expect(compiled.html).toContain('Ubuntu');
  expect(compiled.html).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
});

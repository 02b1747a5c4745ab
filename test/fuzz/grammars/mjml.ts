import { type Grammar, many, maybe, oddNumber, oneOf, recursive, sequence, word } from '../grammar.ts';
import { liquid } from './liquid.ts';

const attribute = sequence(
  ' ',
  oneOf(
    'color',
    'font-size',
    'padding',
    'width',
    'href',
    'src',
    'css-class',
    'path',
    'mj-class',
    'background-url',
    word,
  ),
  '=',
  oneOf(
    '"red"',
    '"10px"',
    '"10px 20px"',
    '"100%"',
    "'x'",
    '"https://example.com/?a=b&c"',
    sequence('"', oddNumber, 'px"'),
    sequence('"', liquid, '"'),
    'x',
    '"',
  ),
);
const attributes = many(attribute, 0, 3);
const inside = oneOf(
  word,
  liquid,
  '<b>bold</b>',
  '&amp;',
  '&nbsp;',
  '&#x110000;',
  '<br>',
  '<img src=x>',
  '<!-- a -->',
  '<![CDATA[x]]>',
);
const ended = (name: string, content: Grammar): Grammar =>
  sequence(`<${name}`, attributes, '>', content, `</${name}>`);
const leaf = oneOf(
  ended('mj-text', many(inside, 0, 3)),
  ended('constructor', inside),
  ended('mj-button', many(inside, 0, 2)),
  ended('mj-raw', many(inside, 0, 2)),
  ended('mj-table', oneOf('<tr><td>1</td></tr>', inside)),
  sequence('<mj-image', attributes, ' />'),
  sequence('<mj-divider', attributes, ' />'),
  sequence('<mj-spacer', attributes, '/>'),
  sequence('<mj-include path="', oneOf('footer', 'loop', 'none', '../x', word), '" />'),
  ended('mj-social', many(ended('mj-social-element', word), 0, 2)),
  ended('mj-navbar', many(ended('mj-navbar-link', word), 0, 2)),
  ended('mj-carousel', many(sequence('<mj-carousel-image', attributes, ' />'), 0, 2)),
  ended('mj-accordion', ended('mj-accordion-element', ended('mj-accordion-title', word))),
);
const body = recursive(
  leaf,
  (within) =>
    oneOf(
      ended('mj-section', many(ended('mj-column', many(within, 0, 3)), 0, 3)),
      ended('mj-wrapper', many(within, 0, 2)),
      ended('mj-group', many(within, 0, 2)),
      ended('mj-hero', many(within, 0, 2)),
      liquid,
    ),
  3,
);
const head = ended(
  'mj-head',
  many(
    oneOf(
      ended('mj-title', word),
      ended('mj-preview', word),
      ended('mj-style', oneOf('.a { color: red }', '@media (', 'a{', word)),
      ended('mj-attributes', oneOf('<mj-all color="red" />', '<mj-class name="a" color="b" />', '<x/>')),
      ended('mj-html-attributes', ended('mj-selector', ended('mj-html-attribute', word))),
      '<mj-font name="a" href="https://example.com/a.css" />',
      '<mj-breakpoint width="320px" />',
    ),
    0,
    3,
  ),
);

/** Sources of templates, with Liquid and includes in them. */
export const mjml: Grammar = sequence(
  '<mjml>',
  maybe(head),
  '<mj-body',
  attributes,
  '>',
  many(body, 0, 3),
  '</mj-body></mjml>',
);
/** The HTML of an email. */
export const html: Grammar = many(
  oneOf(
    inside,
    inside,
    ended('a', word),
    ended('div', inside),
    ended('table', oneOf('<tr><td>1</td></tr>', inside)),
    ended('constructor', inside),
    ended('__proto__', inside),
    '<html><body>',
    '</BODY></html>',
    '<script>x</script>',
  ),
  1,
  20,
);

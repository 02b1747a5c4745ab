import { type Grammar, many, maybe, oddNumber, oneOf, recursive, sequence, word } from '../grammar.ts';

const name = oneOf(
  'name',
  'items',
  'user.name',
  'items[0]',
  'items.first',
  'a["b"]',
  'user',
  'size',
  'none',
  'x-y',
  'constructor',
  '__proto__',
  'user.constructor.name',
);
const literal = oneOf('1', '-2.5', '"text"', "'text'", 'true', 'nil', 'empty', 'blank', '(1..5)', oddNumber);
const operand = oneOf(name, literal, sequence('"', word, '"'));
const filterName = oneOf(
  ...(
    'abs append at_least at_most capitalize ceil compact concat date default divided_by downcase escape escape_once ' +
    'first floor join json last lstrip map minus modulo newline_to_br plus prepend raw remove remove_first replace ' +
    'replace_first reverse round rstrip size slice sort sort_natural split strip strip_html strip_newlines sum times ' +
    'truncate truncatewords uniq upcase url_decode url_encode where where_exp group_by_exp date_to_string xml_escape ' +
    'cgi_escape slugify normalize_whitespace number_of_words base64_encode none constructor __proto__ toString'
  ).split(' '),
);
const filter = sequence(
  ' | ',
  filterName,
  maybe(
    sequence(': ', many(oneOf(operand, '"%Y-%m-%d %-H"', sequence('"', '%', oddNumber, 'Y"')), 1, 3, ', ')),
  ),
);
const expression = sequence(operand, many(filter, 0, 4));
const condition = many(
  sequence(operand, maybe(sequence(' ', oneOf('==', '!=', '>', '<=', 'contains'), ' ', operand))),
  1,
  4,
  ' and ',
);
const trim = oneOf('', '', '-');
const output = sequence('{{', trim, ' ', expression, ' ', trim, '}}');
const text = oneOf('Dear ', '<p>', word, '\n', '{', '%}', '}}');
const tag = (inner: Grammar): Grammar => sequence('{%', trim, ' ', inner, ' ', trim, '%}');

/** Templates with outputs, tags and filters, also with tags and filters that the platform does not allow. */
export const liquid: Grammar = many(
  recursive(
    oneOf(output, text),
    (within) => {
      const block = many(within, 0, 3);
      const around = (open: Grammar, close: string) => sequence(tag(open), block, tag(oneOf(close)));
      return oneOf(
        output,
        around(sequence('if ', condition), 'endif'),
        sequence(tag(sequence('if ', condition)), block, tag(oneOf('else')), block, tag(oneOf('endif'))),
        around(sequence('unless ', condition), 'endunless'),
        around(
          sequence('for i in ', oneOf(name, '(1..9)', '(1..99999999)'), maybe(' limit:2 offset:1 reversed')),
          'endfor',
        ),
        around(sequence('tablerow i in ', name, ' cols:', oddNumber), 'endtablerow'),
        sequence(
          tag(sequence('case ', operand)),
          tag(sequence('when ', operand)),
          block,
          tag(oneOf('endcase')),
        ),
        around(sequence('capture ', name), 'endcapture'),
        around(oneOf('comment'), 'endcomment'),
        around(oneOf('raw'), 'endraw'),
        tag(sequence('assign ', name, ' = ', expression)),
        tag(sequence(oneOf('increment ', 'decrement ', 'echo ', 'cycle '), operand)),
        tag(sequence(oneOf('include ', 'render ', 'layout ', 'block '), '"', word, '"')),
        tag(sequence('liquid\nassign x = ', expression, '\necho x')),
        tag(sequence('# ', word)),
      );
    },
    4,
  ),
  1,
  5,
);

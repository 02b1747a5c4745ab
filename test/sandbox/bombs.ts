type Bomb = { name: string; source: string; data?: Record<string, unknown>; says: RegExp };

const tooSlow = /^takes longer than 100 ms/;
const tooHeavy = /^needs more than 10 MB$/;
const tooLong = /^renders to more than 1 MiB$/;
const stopped = /^(takes longer than|needs more than|renders to more than)/;

const megabyte = 1024 * 1024;
const long = 'lorem ipsum '.repeat(8000);
const numbers = (length: number) => Array.from({ length }, (_, index) => index);
const times = (count: number, body: string) => `{% for i in (1..${count}) %}${body}{% endfor %}`;
const each = (count: number, body: (index: number) => string) => numbers(count).map(body).join('');

/** Templates that blocked or killed, or might do so, a process which rendered them with liquidjs' own limits. */
export const measured: Bomb[] = [
  { name: 'a range of 100 million', source: times(1e8, '{{ i }}'), says: tooHeavy },
  { name: 'a range of a million', source: times(1e6, '{{ i }}'), says: tooHeavy },
  { name: 'three nested loops', source: times(1000, times(1000, times(1000, ''))), says: stopped },
  {
    name: 'a string doubled 40 times',
    source: `{% assign s = "x" %}${times(40, '{% assign s = s | append: s %}')}{{ s }}`,
    says: tooHeavy,
  },
  {
    name: 'a capture doubled 25 times',
    source: `{% capture c %}xxxxxxxxxx{% endcapture %}${'{% capture c %}{{ c }}{{ c }}{% endcapture %}'.repeat(25)}`,
    says: stopped,
  },
  { name: '100 kB printed 2,000 times', source: times(2000, '{{ long }}'), data: { long }, says: tooLong },
  {
    name: 'an expression filter',
    source: '{% assign a = (1..30000) %}{{ a | find_exp: "i", "a contains -1" }}',
    says: /^find_exp is not available here$/,
  },
  {
    name: 'a search for each of 30,000',
    source: `{% assign a = (1..30000) %}${times(30000, '{% if a contains -1 %}{% endif %}')}`,
    says: tooSlow,
  },
  {
    name: 'a join of 900,000',
    source: '{{ (1..900000) | join: "-----------------------------------------" }}',
    says: tooHeavy,
  },
  {
    name: 'joins in a loop',
    source: `{% assign a = (1..100000) %}${times(41, '{% assign s = a | join: "---------" %}')}`,
    says: stopped,
  },
  {
    name: 'a wide date',
    source: '{{ "now" | date: "%999999999d" }}',
    says: /^a date format has a width above 1000$/,
  },
  {
    name: '5,000 nested ifs',
    source: '{% if a %}'.repeat(5000),
    says: /nested too deeply|not closed|takes longer/,
  },
  { name: '100,000 nested indexes', source: `{{ a${'[a'.repeat(100_000)}}}`, says: /^is nested too deeply$/ },
  { name: 'a source of 1 MB of {{', source: '{{'.repeat(megabyte / 2), says: /^has more than 8000 tags$/ },
];

export const invented: Bomb[] = [
  {
    name: 'a range that never ends',
    source: '{% for i in (9007199254740992..9007199254740994) %}{% endfor %}',
    says: /^a range has a number that is too large$/,
  },
  {
    name: 'the same hidden in a filter argument',
    source: '{{ x | where: "a[(9007199254740992..9007199254740994)]" }}',
    data: { x: [{ a: 1 }] },
    says: /^a range has a number that is too large$/,
  },
  {
    name: 'an array that holds itself 2^60 times',
    source: `{% assign e = "" | split: "," %}{% assign b = e | push: "x" %}${times(60, '{% assign b = e | push: b | push: b %}')}{{ b }}`,
    says: tooHeavy,
  },
  {
    name: 'comparing large arrays of arrays',
    source: `{% assign e = "" | split: "," %}{% assign b = e | push: 1 %}${times(14, '{% assign b = e | push: b | push: b %}')}${times(100_000, '{% if b == b or b < b %}{% endif %}')}`,
    says: tooSlow,
  },
  {
    name: 'sort, uniq, map and reverse in a loop',
    source: `{% assign a = (1..150000) %}${times(100, '{% assign b = a | reverse | sort | uniq | map: "x" %}')}`,
    says: stopped,
  },
  {
    name: 'one sort that cannot be interrupted',
    source: times(3, '{{ s | split: "" | sort_natural | reverse | sort_natural | size }}'),
    data: { s: 'qwertyuiopasdfghjklzxcvbnm'.repeat(8500) },
    says: tooSlow,
  },
  {
    name: 'group_by and where',
    source: `{% assign a = (1..150000) %}${times(50, '{% assign g = a | group_by: "x" %}{% assign w = a | where: "x", 1 %}')}`,
    says: stopped,
  },
  {
    name: '300,000 characters split',
    source: '{{ s | split: "" }}',
    data: { s: 'x'.repeat(300_000) },
    says: tooHeavy,
  },
  {
    name: 'each x replaced by all',
    source: '{{ s | replace: "x", s }}',
    data: { s: 'x'.repeat(3000) },
    says: tooHeavy,
  },
  {
    name: 'a huge truncatewords',
    source: times(100_000, '{% assign a = s | truncatewords: 999999999 %}'),
    data: { s: 'a '.repeat(200_000) },
    says: stopped,
  },
  {
    name: 'loops over data in loops over data',
    source: '{% for a in d %}{% for b in d %}{% for c in d %}{% endfor %}{% endfor %}{% endfor %}',
    data: { d: numbers(1000) },
    says: tooSlow,
  },
  {
    name: 'data as JSON over and over',
    source: times(100_000, '{% assign a = d | json %}'),
    data: { d: numbers(50_000) },
    says: stopped,
  },
  {
    name: 'escapes of escapes',
    source: times(1000, '{% assign x = s | escape | escape %}'),
    data: { s: '&'.repeat(200_000) },
    says: stopped,
  },
  {
    name: 'URL encodings of URL encodings',
    source: `{{ s ${'| url_encode '.repeat(6)}}}`,
    data: { s: 'ж'.repeat(300_000) },
    says: stopped,
  },
  {
    name: 'regular expressions',
    source: times(1000, '{% assign a = s | slugify: "latin" | strip_html | squish %}'),
    data: { s: 'é - <a '.repeat(60_000) },
    says: stopped,
  },
  {
    name: 'months in a loop',
    source: times(150_000, '{{ i | date: "%A %B", "Europe/Amsterdam" }}'),
    says: stopped,
  },
  {
    name: 'a long date format',
    source: '{{ "now" | date: f }}',
    data: { f: '%A%c'.repeat(200_000) },
    says: /^a date format is too long$/,
  },
  {
    name: '200 large captures',
    source: each(200, (index) => `{% capture c${index} %}{{ long }}{{ long }}{{ long }}{% endcapture %}`),
    data: { long },
    says: tooHeavy,
  },
  {
    name: '200 large ranges',
    source: each(200, (index) => `{% assign c${index} = (1..150000) %}`),
    says: stopped,
  },
  {
    name: 'a large table',
    source: '{% tablerow i in (1..100000) cols:1 %}{{ long }}{% endtablerow %}',
    data: { long },
    says: tooLong,
  },
  {
    name: 'a liquid tag of 150,000 lines',
    source: `{% liquid\n${'echo a\n'.repeat(149_000)}%}`,
    says: tooSlow,
  },
  {
    name: '170,000 times "and"',
    source: `{% for i in (1..100) %}{% if a ${'or a '.repeat(200_000)}%}{% endif %}{% endfor %}`,
    says: tooSlow,
  },
  {
    name: '250,000 arguments',
    source: `{% for i in (1..100) %}{% cycle ${'"a",'.repeat(260_000)}%}{% endfor %}`,
    says: tooSlow,
  },
  { name: 'a source above 1 MiB', source: `{{ a }}${'x'.repeat(megabyte)}`, says: tooLong },
  { name: 'plain text above 1 MiB', source: 'é'.repeat(600_000), says: tooLong },
];

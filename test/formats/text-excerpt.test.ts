import { createRequire } from 'node:module';
import { expect, test, vi } from 'vitest';
import { excerptOf } from '../../shared/formats/text-excerpt.ts';

const excerpt = (html: string) => excerptOf({ html, text: null });

test.each(['constructor', 'CONSTRUCTOR', 'tostring', 'valueof', 'x-own', 'b'])(
  'an element named %s is read like any other',
  (name) => {
    expect(excerpt(`<p>Dear <${name} class="a">Ada</${name}>, hello</p>`)).toBe('Dear Ada, hello');
    expect(excerpt(`<p>Dear <${name}/>Ada</p>`)).toBe('Dear Ada');
  },
);

test('text that only looks like such an element stays as it is', () => {
  expect(excerpt('<p>constructor &lt;constructor&gt; a < constructor</p>')).toBe(
    'constructor <constructor> a < constructor',
  );
});

test('a page that is cut inside a surrogate pair leaves no half of it', () => {
  for (const start of ['', 'x']) {
    const page = `${start}${'😀'.repeat(10)}<!--${'x'.repeat(63_960 - start.length)}-->${'😀'.repeat(40)}`;
    expect(excerpt(page)!.isWellFormed()).toBe(true);
  }
});

test.each([
  ['<ol type="I" start="10000"><li>x</li></ol>', ' 10000. x'],
  ['<ol type="i" start="9999"><li>x</li><li>y</li></ol>', ' 9999.  x\n 10000. y'],
  ['<ol type="I" start="5000"><li>x</li></ol>', ' 5000. x'],
  ['<ol type="A" start="zz"><li>x</li></ol>', ' 1. x'],
  ['<ol type="a"><li>x</li><li>y</li></ol>', ' 1. x\n 2. y'],
  ['<ol start="1e21"><li>x</li></ol>', ' 1. x'],
  ['<ol start="-3"><li>x</li></ol>', ' -3. x'],
  ['<ol start="99999999999999999999"><li>x</li></ol>', ' 1. x'],
])('the items of %s are numbered in decimals', (html, text) => {
  expect(excerpt(html)).toBe(text);
});

test('control characters of a page are not in its excerpt, and its line ends are', () => {
  expect(excerpt('<p>a\0b&#1;c&#127;d<br>e</p><pre>f\tg</pre>')).toBe('abcd\ne\n\nf\tg');
});

const { Parser } = createRequire(import.meta.resolve('html-to-text'))('htmlparser2') as {
  Parser: { prototype: { end(page: string): void; onopentagname(start: number, end: number): void } };
};

test('a page that the library cannot read has no excerpt', () => {
  const end = vi.spyOn(Parser.prototype, 'end').mockImplementation(() => {
    throw new TypeError('broken');
  });
  expect(excerpt('<p>Hello</p>')).toBeNull();
  end.mockRestore();
  expect(excerpt('<p>Hello</p>')).toBe('Hello');
});

test.each(['<b>', '<li>', '<h1>', '<p>x</p>', '<a>x'])(
  'of a page that has %s over and over, few elements are read',
  (part) => {
    const opened = vi.spyOn(Parser.prototype, 'onopentagname');
    excerpt(`<ol>${part.repeat(64_000 / part.length)}`);
    expect(opened.mock.calls.length).toBeLessThanOrEqual(2_000);
    opened.mockRestore();
  },
);

test('the text of a page is found behind a long style sheet and long attributes', () => {
  const style = `<style>${'p{color:red}'.repeat(2_000)}</style>`;
  const paragraph = `<p style="${'margin:0;'.repeat(40)}">${'word '.repeat(20)}</p>`;
  expect(excerpt(`${style}${paragraph.repeat(30)}`)).toHaveLength(2_000);
});

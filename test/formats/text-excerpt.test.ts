import { expect, test } from 'vitest';
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

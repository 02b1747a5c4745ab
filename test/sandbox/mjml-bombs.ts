import { mjmlColumn, mjmlDocument } from '../support/data/mjml.ts';

/**
 * MJML of at most 256 kB for which mjml itself takes seconds or gigabytes, with the expected error. The last ones pass
 * the checks that are made on a source before it is compiled.
 */
export const mjmlBombs: { name: string; source: string; says: RegExp }[] = [
  {
    name: 'a style that is inlined into everything',
    source: mjmlDocument(
      mjmlColumn(`<mj-raw>${'<i></i>'.repeat(20_000)}</mj-raw>`),
      `<mj-style inline="inline">i{font-family:${'x'.repeat(10_000)}}</mj-style>`,
    ),
    says: /mj-style is too long for so many elements/,
  },
  {
    name: 'rules by the thousand inlined into elements by the thousand',
    source: mjmlDocument(
      mjmlColumn(`<mj-raw>${'<i></i>'.repeat(10_000)}</mj-raw>`),
      `<mj-style inline="inline">${'i i,i+i,i~i{color:red}'.repeat(2_000)}</mj-style>`,
    ),
    says: /mj-style is too long for so many elements/,
  },
  {
    name: 'an attribute set on everything',
    source: mjmlDocument(
      mjmlColumn(`<mj-raw>${'<i></i>'.repeat(20_000)}</mj-raw>`),
      `<mj-html-attributes><mj-selector path="i"><mj-html-attribute name="a">${'x'.repeat(10_000)}</mj-html-attribute></mj-selector></mj-html-attributes>`,
    ),
    says: /mj-html-attributes is too long for so many elements/,
  },
  {
    name: 'a long default of every element',
    source: mjmlDocument(
      mjmlColumn('<mj-text/>'.repeat(12_000)),
      `<mj-attributes><mj-text font-family="${'x'.repeat(100_000)}"/></mj-attributes>`,
    ),
    says: /more than 3000 elements/,
  },
  {
    name: 'a carousel of thousands',
    source: mjmlDocument(
      mjmlColumn(`<mj-carousel>${'<mj-carousel-image src="a"/>'.repeat(4_000)}</mj-carousel>`),
    ),
    says: /more than 50 images in carousels/,
  },
  {
    name: 'sections that come to more than 1 MiB',
    source: mjmlDocument(mjmlColumn('<mj-text>x</mj-text>').repeat(3_000)),
    says: /more than 3000 elements/,
  },
  {
    name: '7,000 levels',
    source: mjmlDocument('<mj-wrapper>'.repeat(7_000)),
    says: /more than 50 levels deep/,
  },
  {
    name: 'columns by the thousand',
    source: mjmlDocument(`<mj-section>${'<mj-column></mj-column>'.repeat(9_000)}</mj-section>`),
    says: /more than 3000 elements/,
  },
  {
    name: 'siblings of siblings',
    source: mjmlDocument(
      mjmlColumn(`<mj-raw>${'<i></i>'.repeat(9_000)}</mj-raw>`),
      `<mj-style inline="inline">${'i~i~i~i~i~i{color:red}'.repeat(100)}</mj-style>`,
    ),
    says: /takes longer than 1.5 s/,
  },
  {
    // Few elements, so that even a slow machine reaches the end of them in time.
    name: 'a long default that comes to more than 1 MiB',
    source: mjmlDocument(
      mjmlColumn('<mj-text>x</mj-text>'.repeat(120)),
      `<mj-attributes><mj-text font-family="${'x'.repeat(10_000)}"/></mj-attributes>`,
    ),
    says: /compiles to more than 1 MiB of HTML/,
  },
];

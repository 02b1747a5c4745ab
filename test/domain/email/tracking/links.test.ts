import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { withOpenImage } from '../../../../shared/domain/email/tracking/links.ts';
import { newId } from '../../../../shared/formats/ids.ts';

const emailId = newId('email', new Date());
const image = withOpenImage('', emailId);

const letters = Array.from({ length: 0x30000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
/** Letters whose length changes with their case or their Unicode normalization form. */
const changing = letters.filter((letter) =>
  [letter.toLowerCase(), letter.toUpperCase(), letter.normalize('NFC'), letter.normalize('NFKD')].some(
    (form) => form.length !== letter.length,
  ),
);

test('the image stands before the end of the body, whatever letters come before it', () => {
  expect(changing.length).toBeGreaterThan(1_000);
  expect(changing).toContain('İ');
  for (let start = 0; start < changing.length; start += 50) {
    const some = changing.slice(start, start + 50).join('');
    const before = `<html><body title="${some}"><p>${some}</p><a href="https://example.com/">${some}</a>`;
    for (const end of ['</body></html>', '</BODY >\n</HTML>', `</bOdy><!-- ${some} -->`])
      expect(withOpenImage(before + end, emailId)).toBe(before + image + end);
  }
});

test('it takes nothing away, and stands where the last end of a body is, or at the end', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '</body>',
      '</BODY>',
      '<body>',
      '</bod',
      '<p>',
      '</p>',
      'İ',
      'ﬃ',
      'ß',
      'ŉ',
      'K',
      'ſ',
      '\ud83d',
    ),
    fc.string({ unit: 'grapheme', maxLength: 10 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const html = pieces.join('');
      const result = withOpenImage(html, emailId);
      const at = result.indexOf(image);
      expect(result.slice(0, at) + result.slice(at + image.length)).toBe(html);
      const after = result.slice(at + image.length);
      if (/<\/body/i.test(html)) expect(after).toMatch(/^<\/body/i);
      else expect(after).toBe('');
      expect(after.slice(1)).not.toMatch(/<\/body/i);
    }),
  );
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile } from '../../../shared/domain/contacts/filter.ts';
import { foldWhole, wordsOf } from '../../../shared/formats/folded-text.ts';
import { contactRecord } from '../../support/data/contact-record.ts';

const letters = "abKZ09 -.@’'`éÉÅßẞİıŁ\u212a\u0301\u0149ﬁ鈴😀";
const textOf = (units: string) =>
  fc.option(fc.string({ unit: fc.constantFrom(...units), maxLength: 12 }), { nil: null });
// In a name a single acute accent is an apostrophe. In emails and references folding first turns it into a space.
const name = textOf(`${letters}´`);
const written = textOf(letters);
const texts = fc.record({
  firstName: name,
  lastName: name,
  company: name,
  email: written,
  clientReference: written,
});
const share = fc.double({ min: 0, max: 1, noNaN: true });

test('a contact is found by the start of any of its words and texts, however they are written', () => {
  fc.assert(
    fc.property(texts, fc.array(fc.tuple(fc.nat(), share), { minLength: 1, maxLength: 3 }), (own, picks) => {
      const contact = contactRecord(1, own);
      const found = Object.entries(own).flatMap(([field, text]) => {
        const whole = ['email', 'clientReference'].includes(field) ? foldWhole(text ?? '') : '';
        return [...wordsOf(text ?? ''), ...(/\s/u.test(whole) ? [] : [whole])];
      });
      fc.pre(found.some((word) => word !== ''));
      const words = found.filter((word) => word !== '');
      const search = picks.map(([pick, part]) => {
        const letters = [...words[pick % words.length]!];
        return letters.slice(0, Math.max(1, Math.ceil(part * letters.length))).join('');
      });
      expect(compile({ search: search.join(' ') }).matches(contact)).toBe(true);
      expect(compile({ search: search.join(' ').toUpperCase() }).matches(contact)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['kappa', false],
  ['alpha', true],
  ['alpha beta', true],
  ['alpha kappa', false],
  ['obrien', true],
  ['o’brien alpha', true],
  ['null', false],
  ['007919', true],
  ['x007919', false],
  // Alone, an acute accent is an apostrophe in a name, and a space in a reference.
  ['vari', true],
  ['o´vari', true],
  ['ovari', false],
  ['ovari 7', false],
])('a search for %j finds it: %s', (search, isFound) => {
  const names = { firstName: 'Alpha', lastName: "Beta O'Brien", company: null };
  const contact = contactRecord(1, { ...names, clientReference: 'o´vari 7' });
  expect(compile({ search }).matches(contact)).toBe(isFound);
});

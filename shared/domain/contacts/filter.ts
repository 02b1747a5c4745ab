import type { ContactRecord } from '../../db/contacts/contacts.ts';
import type { ContactSearch, Range, Source } from '../../db/contacts/search.ts';
import { foldWhole, joined, reversed, tagKeyOf, wordsOf, wordsOfContact } from '../../formats/folded-text.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';

/**
 * Compiles a filter on contacts. All fields that are given must match; one that is null or blank does not count.
 *
 * A search matches in one of two ways:
 * - each of its words is the start of a word of the name, the company, the email or the client reference. Digits
 *   may also be the start of the number, in national or international form, or its last four or more digits;
 * - the whole search is the start of the email or of the client reference.
 */
export function compile({ search, tag, clientReference }: ContactFilter): ContactSearch {
  const parts = [
    searchOf(search?.trim() ?? ''),
    tagOf(tag?.trim() ?? ''),
    referenceOf(clientReference ?? ''),
  ];
  const given = parts.filter((part) => part !== null);
  return {
    terms: given.flatMap(({ terms }) => terms),
    isExact: given.every(({ isExact }) => isExact),
    matches: (contact) => given.every(({ matches }) => matches(contact)),
  };
}

// Each further word costs an index look-up. The words past the limit, the shortest ones, are only compared with the
// contacts that the others have found.
const mostTerms = 10;
const fewestLastDigits = 4;
const wordSources: Source[] = ['firstName', 'lastName', 'company', 'furtherWord'];

function searchOf(search: string): ContactSearch | null {
  if (search === '') return null;
  const whole = termFor(search);
  const parts = [...new Set(search.split(/\s+/u))].map((part) => (part === search ? whole : termFor(part)));
  const plain = plainWordsOf(parts);
  const isFoundIn = (contact: ContactRecord) => {
    const texts = textsOf(contact);
    if (lacksAny(texts, plain)) return false;
    return whole.isFoundIn(texts) || parts.every((part) => part.isFoundIn(texts) || part.areWordsOf(texts));
  };
  // A contact that the whole search finds may lack a word of it, so the ranges of the whole belong to each term. For
  // the same reason, the ranges of a part belong to the terms of the part's words.
  const terms = parts.flatMap((part) => {
    const found = uniqueRanges([...whole.ranges, ...part.ranges]);
    return part.words.length === 0
      ? [found.length === 0 ? [nothing] : found]
      : part.words.map((word) =>
          uniqueRanges([...found, ...wordSources.map((source) => prefix(source, word)), ...textRanges(word)]),
        );
  });
  return {
    terms: terms.toSorted((one, other) => lengthOf(other) - lengthOf(one)).slice(0, mostTerms),
    isExact: terms.length <= mostTerms,
    matches: isFoundIn,
  };
}

/** Returns the length of a term's word; a term that finds nothing counts as the longest. */
function lengthOf(term: Range[]): number {
  return Math.min(...term.map((range) => (range === nothing ? Number.POSITIVE_INFINITY : range.key.length)));
}

const plainWord = /^[a-z0-9]*[a-z][a-z0-9]*$/;

/** The words of a search that are letters of ASCII, perhaps with digits: no part of a number. */
function plainWordsOf(parts: { folded: string }[]): string[] {
  return parts.map(({ folded }) => joined(folded)).filter((word) => plainWord.test(word));
}

/**
 * The texts of a contact that searches compare, each made when it is first needed. `written`: all its texts in one,
 * folded. `wholes`: texts that are found by their start as a whole. `beginnings`: all that a search word may begin.
 */
type Texts = {
  contact: ContactRecord;
  written: string | null;
  wholes: string[] | null;
  beginnings: string[] | null;
};

let latest: Texts | undefined;

/** A contact may be compared with a thousand filters in turn, and folding its texts is most of the work. */
function textsOf(contact: ContactRecord): Texts {
  if (latest?.contact !== contact) latest = { contact, written: null, wholes: null, beginnings: null };
  return latest;
}

function writtenIn(texts: Texts): string {
  const { firstName, lastName, company, email, clientReference } = texts.contact;
  texts.written ??= joined(firstName, lastName, company, email, clientReference);
  return texts.written;
}

function wholesOf(texts: Texts): string[] {
  const { email, clientReference } = texts.contact;
  texts.wholes ??= [email, clientReference].flatMap((text) => (text === null ? [] : foldWhole(text)));
  return texts.wholes;
}

function beginningsOf(texts: Texts): string[] {
  if (texts.beginnings) return texts.beginnings;
  const { leading, further } = wordsOfContact(texts.contact);
  texts.beginnings = [...leading.filter((word) => word !== null), ...further, ...wholesOf(texts)];
  return texts.beginnings;
}

/**
 * Returns whether a contact certainly does not match, since a word is nowhere in its texts. This costs a tenth of
 * cutting the texts into words, and most contacts that are compared do not match.
 */
function lacksAny(texts: Texts, plain: string[]): boolean {
  return !plain.every((word) => writtenIn(texts).includes(word));
}

function termFor(text: string) {
  const folded = foldWhole(text);
  const words = wordsOf(text);
  const digits = digitsOf(text);
  return {
    folded,
    words,
    ranges: [...textRanges(folded), ...numberRanges(digits)],
    isFoundIn: (texts: Texts) =>
      (folded !== '' && wholesOf(texts).some((own) => own.startsWith(folded))) ||
      isNumberOf(texts.contact, digits),
    areWordsOf: (texts: Texts) =>
      words.length > 0 && words.every((word) => beginningsOf(texts).some((own) => own.startsWith(word))),
  };
}

function textRanges(folded: string): Range[] {
  return folded === '' ? [] : [prefix('email', folded), prefix('clientReference', folded)];
}

type Digits = { international: string[]; national: string | null; last: string | null };

/** Digits as people write them in numbers; null for what is no part of a number. */
function digitsOf(text: string): Digits | null {
  const written = text.normalize('NFKC');
  if (!/^\+?[\d\s()./\u2010-\u2015-]+$/u.test(written) || !/\d/.test(written)) return null;
  const isInternational = /^(\+|00)/.test(written);
  const digits = (isInternational ? written.replace(/\(0\)/, '') : written).replaceAll(/\D/g, '');
  if (written.startsWith('+')) return { international: [digits], national: null, last: null };
  return {
    international: /^00./.test(digits) ? [digits, digits.slice(2)] : [digits],
    national: digits,
    last: digits.length >= fewestLastDigits ? digits : null,
  };
}

function numberRanges(digits: Digits | null): Range[] {
  if (!digits) return [];
  const { international, national, last } = digits;
  return [
    ...international.map((start) => prefix('number', `+${start}`)),
    ...(national === null ? [] : [prefix('national', national)]),
    ...(last === null ? [] : [prefix('reversed', reversed(last))]),
  ];
}

function isNumberOf({ number, national }: ContactRecord, digits: Digits | null): boolean {
  if (!digits) return false;
  return (
    digits.international.some((start) => number.startsWith(`+${start}`)) ||
    (digits.national !== null && national.startsWith(digits.national)) ||
    (digits.last !== null && number.endsWith(digits.last))
  );
}

function tagOf(tag: string): ContactSearch | null {
  if (tag === '') return null;
  const wanted = tagKeyOf(tag);
  return {
    terms: [[{ source: 'tag', key: wanted, isPrefix: false }]],
    isExact: true,
    matches: ({ tags }) => tags.some((own) => tagKeyOf(own) === wanted),
  };
}

/** References are the customer's own ids, which may differ by case alone, so they are compared as they are written. */
function referenceOf(wanted: string): ContactSearch | null {
  if (wanted === '') return null;
  return {
    terms: [[{ source: 'clientReference', key: foldWhole(wanted), isPrefix: false }]],
    isExact: false,
    matches: ({ clientReference }) => clientReference === wanted,
  };
}

function prefix(source: Range['source'], text: string): Range {
  return { source, key: text, isPrefix: true };
}

/** A range that finds nothing, because no tag has an empty key. */
const nothing: Range = { source: 'tag', key: '', isPrefix: false };

function uniqueRanges(ranges: Range[]): Range[] {
  const seen = new Set<string>();
  return ranges.filter(({ source, key }) => {
    const name = `${source} ${key}`;
    return !seen.has(name) && seen.add(name);
  });
}

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Text as search compares it: without regard to case, accents and the many ways to write one letter. */

const ascii = /^[\0-\x7f]*$/;
const accents = /[\u0300-\u036f]/g;
// Letters that Unicode does not decompose, but that people without the right keyboard write like this.
const plainer: Record<string, string> = {
  æ: 'ae',
  ð: 'd',
  đ: 'd',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ς: 'σ',
};
const special = /[æðđıłøœßþς]/g;

export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(accents, '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(accents, '')
    .replace(special, (letter) => plainer[letter]!);
}

/** Folds names that count as equal when only their case differs. */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  // ẞ has a capital of its own and ß has SS: the first step makes them one.
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** The length of the columns of tags' keys. */
export const tagKeyBytes = 384;
const hashBytes = 64;

/**
 * Returns the key that all spellings of a tag share, and no other tag has. A few symbols, such as U+1D160, take twelve
 * bytes when they are folded, so a key may be too long for its column.
 */
export function tagKeyOf(tag: string): string {
  const folded = foldCase(tag);
  if (startOf(folded, tagKeyBytes) === folded) return folded;
  return startOf(folded, tagKeyBytes - hashBytes) + hash('sha256', folded, 'hex');
}

const apostrophes = /['\u2018\u2019\u02bc\uff07`\u00b4]/g;
const asciiWords = /[a-z0-9]+/g;
// Symbols such as emoji are not in it: they are words or parts of words.
const gap = /[\p{Z}\p{C}\p{P}+<=>|~^$]+/u;

const plainWords = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;

/** The words of a text, folded. An apostrophe is no gap: people write O'Brien and OBrien. */
export function wordsOf(text: string): string[] {
  // Fast path: most names look like this, and they come by the thousand.
  if (plainWords.test(text)) return text.toLowerCase().split(' ');
  const whole = joined(text);
  if (ascii.test(whole)) return whole.match(asciiWords) ?? [];
  return whole.split(gap).filter(isWord);
}

const simple = /^[^'`\x80-\uffff]*$/;

/**
 * Folds a text and removes apostrophes, so that an apostrophe does not split a word. Joins several texts with spaces.
 */
export function joined(...texts: (string | null)[]): string {
  const text = texts.join(' ');
  if (simple.test(text)) return text.toLowerCase();
  // Each text alone, because most texts are simple and folding is expensive.
  if (texts.length > 1) return texts.map((one) => joined(one)).join(' ');
  // Apostrophes are removed twice: folding turns ´ into a gap, and gives ŉ an apostrophe.
  return fold(text.replace(apostrophes, '')).replace(apostrophes, '');
}

/** Folds a text as a whole, for a search by its beginning. */
export function foldWhole(text: string): string {
  return fold(text).trim();
}

/** Reverses a text, so that a search by its end becomes a search by its beginning. */
export function reversed(text: string): string {
  let turned = '';
  for (const character of text) turned = character + turned;
  return turned;
}

// No real name has a hundred words, so search need not know all of them.
const mostFurtherWords = 20;

/** Returns the first word of each name, and the other words once each. */
export function wordsOfNames(names: (string | null)[]): ContactWords {
  const each = names.map((name) => (name === null ? [] : wordsOf(name)));
  const leading = each.map((words) => words[0] ?? null);
  let further: string[] = [];
  for (const words of each)
    for (let place = 1; place < words.length && further.length < mostFurtherWords; place += 1) {
      const word = words[place]!;
      // Not by `push`, which would reserve room for seventeen words in an array of one or two.
      if (!leading.includes(word) && !further.includes(word)) further = [...further, word];
    }
  return { leading, further };
}

type NamedTexts = Record<'firstName' | 'lastName' | 'company' | 'email' | 'clientReference', string | null>;
type ContactWords = { leading: (string | null)[]; further: string[] };

/**
 * Returns the words by which search finds a contact, apart from its number: the first word of each name, and the
 * other words once each.
 */
export function wordsOfContact(contact: NamedTexts): ContactWords {
  const { firstName, lastName, company, email, clientReference } = contact;
  const { leading, further } = wordsOfNames([firstName, lastName, company]);
  if (email === null && clientReference === null) return { leading, further };
  const others = [...insideOf(email), ...insideOf(clientReference)].filter(
    (word) => !leading.includes(word) && !further.includes(word),
  );
  return { leading, further: others.length === 0 ? further : [...further, ...new Set(others)] };
}

const none: string[] = [];
const plainEmail = /^[A-Za-z0-9]+@[A-Za-z0-9.-]+$/;
const plainWord = /^[A-Za-z0-9]+$/;
// ASCII that begins with a word, without apostrophes.
const plainText = /^[A-Za-z0-9][ -&(-_a-~]*$/;
const domains = new LRUCache<string, string[]>({ max: 1_000 });

/**
 * Returns the further words of a text. Most emails have one word before the @ and share their domain with others, so
 * the words of a domain are cached.
 */
function insideOf(text: string | null): string[] {
  if (text === null || plainWord.test(text)) return none;
  if (!plainEmail.test(text)) return plainText.test(text) ? furtherOf(text) : wordsInside(foldWhole(text));
  const domain = text.slice(text.indexOf('@'));
  let words = domains.get(domain);
  if (!words) {
    words = wordsInside(foldWhole(domain)).slice(0, mostFurtherWords - 1);
    domains.set(domain, words);
  }
  return words;
}

function furtherOf(text: string): string[] {
  return text.toLowerCase().match(asciiWords)!.slice(1, mostFurtherWords);
}

/**
 * Returns the words of a folded text that search also finds by its beginning. Leaves out the first word when the text
 * begins with it, because the search by beginning finds this word.
 */
function wordsInside(text: string): string[] {
  const plain = text.replace(apostrophes, '');
  const words = ascii.test(plain) ? (plain.match(asciiWords) ?? []) : plain.split(gap).filter(isWord);
  const first = words[0] !== undefined && text.startsWith(words[0]) ? 1 : 0;
  return words.slice(first, mostFurtherWords);
}

const isWord = (word: string) => word !== '';

/** Returns the longest start of a text that fits in this many bytes of UTF-8, in whole characters. */
export function startOf(text: string, bytes: number): string {
  // No unit of UTF-16 takes more than three bytes.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  let end = 0;
  let used = 0;
  for (const character of text) {
    used += Buffer.byteLength(character);
    if (used > bytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

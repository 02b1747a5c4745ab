import { LRUCache } from 'lru-cache';

/** Text as search compares it: without regard to case, accents and the many ways to write one letter. */

const ascii = /^[\0-\x7f]*$/;
const accents = /[\u0300-\u036f]/g;
// Letters that Unicode does not take apart, though people without that keyboard do.
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

/** For names that are the same whatever their case, and differ by all else. */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  // ẞ has a capital of its own and ß has SS: the first step makes them one.
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

const apostrophes = /['\u2018\u2019\u02bc\uff07`\u00b4]/g;
const asciiWords = /[a-z0-9]+/g;
// Symbols such as emoji are words of their own or parts of them.
const gap = /[\p{Z}\p{C}\p{P}+<=>|~^$]+/u;

const plainWords = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;

/** The words of a text, folded. An apostrophe is no gap: people write O'Brien and OBrien. */
export function wordsOf(text: string): string[] {
  // Most names, which come by the thousand.
  if (plainWords.test(text)) return text.toLowerCase().split(' ');
  const whole = joined(text);
  if (ascii.test(whole)) return whole.match(asciiWords) ?? [];
  return whole.split(gap).filter(isWord);
}

const simple = /^[^'`\x80-\uffff]*$/;

/** A text, folded, with its words as they are compared: no apostrophe parts one. Several texts are one with gaps. */
export function joined(...texts: (string | null)[]): string {
  const text = texts.join(' ');
  if (simple.test(text)) return text.toLowerCase();
  // Most of them are simple, and to fold is dear.
  if (texts.length > 1) return texts.map((one) => joined(one)).join(' ');
  // Folded, ´ is a gap, and ŉ has an apostrophe.
  return fold(text.replace(apostrophes, '')).replace(apostrophes, '');
}

/** A text as a whole, for those that are looked for by how they begin. */
export function foldWhole(text: string): string {
  return fold(text).trim();
}

/** From its end, by which a text is looked for that is known by how it ends. */
export function reversed(text: string): string {
  let turned = '';
  for (const character of text) turned = character + turned;
  return turned;
}

// A name of a hundred words is none; search need not know them all.
const mostFurtherWords = 20;

/** The first word of each name, and the others, each of them once. */
export function wordsOfNames(names: (string | null)[]): ContactWords {
  const each = names.map((name) => (name === null ? [] : wordsOf(name)));
  const leading = each.map((words) => words[0] ?? null);
  let further: string[] = [];
  for (const words of each)
    for (let place = 1; place < words.length && further.length < mostFurtherWords; place += 1) {
      const word = words[place]!;
      // By push, an array for one or two words would take the room of seventeen.
      if (!leading.includes(word) && !further.includes(word)) further = [...further, word];
    }
  return { leading, further };
}

type NamedTexts = Record<'firstName' | 'lastName' | 'company' | 'email' | 'clientReference', string | null>;
type ContactWords = { leading: (string | null)[]; further: string[] };

/** The words that search finds a contact by beside its number: the first word of each name, and the other words, each of them once. */
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

/** Most emails have one word before the @, and a domain that others have too: its words are found out once. */
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
 * The words of a folded text that is found by how it begins as well. The first is left out where the text begins with it,
 * since a search for the word finds that beginning.
 */
function wordsInside(text: string): string[] {
  const plain = text.replace(apostrophes, '');
  const words = ascii.test(plain) ? (plain.match(asciiWords) ?? []) : plain.split(gap).filter(isWord);
  const first = words[0] !== undefined && text.startsWith(words[0]) ? 1 : 0;
  return words.slice(first, mostFurtherWords);
}

const isWord = (word: string) => word !== '';

/** As much from the start of a text as fits in this many bytes of UTF-8, in whole characters. */
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

import { endFrom, untrailed, urlStart } from './find-urls.ts';

/**
 * A URL as a Liquid source has it. The URLs that it can make begin with the first of its literals and have the others
 * behind it, in this order. `isOpen`: the source does not end in a literal, so anything may follow.
 */
type WrittenUrl = { text: string; literals: string[]; isOpen: boolean };
type TextPiece = { isLiquid: boolean; text: string };

const opening = new Set(['if', 'unless', 'case', 'for', 'capture', 'tablerow']);

/**
 * Makes a function that finds how a rendered URL was written: `https://x.example/{{ id }}` for `https://x.example/7`.
 * The source is rendered without marks for this: `size` would count a mark, and `truncate` would cut it. A URL that
 * Liquid made as a whole, or that no written URL can have become, is returned as it is. Where two written URLs could
 * have become it, the one with more letters outside of Liquid is taken.
 */
export function writtenIn(source: string): (url: string) => string {
  const written = listWritten(source).toSorted((one, other) => ownLetters(other) - ownLetters(one));
  return (url) => written.find((candidate) => canBecome(candidate, url))?.text ?? url;
}

function ownLetters({ literals, isOpen }: WrittenUrl): number {
  const letters = literals.reduce((sum, literal) => sum + literal.length, 0);
  // A written URL without Liquid can only become itself, so a match with it is certain.
  return literals.length === 1 && !isOpen ? Number.POSITIVE_INFINITY : letters;
}

function canBecome({ literals, isOpen }: WrittenUrl, url: string): boolean {
  const [first, ...rest] = literals as [string, ...string[]];
  if (!url.startsWith(first)) return false;
  let from = first.length;
  for (const literal of rest) {
    const found = url.indexOf(literal, from);
    if (found < 0) return false;
    from = found + literal.length;
  }
  if (isOpen) return true;
  return rest.length === 0 ? url === first : url.endsWith(rest.at(-1)!);
}

function listWritten(source: string): WrittenUrl[] {
  const pieces = piecesOf(source);
  const written: WrittenUrl[] = [];
  let from = 0;
  for (let index = 0; index < pieces.length; ) {
    const piece = pieces[index]!;
    const starts = new RegExp(urlStart);
    starts.lastIndex = from;
    const start = piece.isLiquid ? null : starts.exec(piece.text);
    if (!start) {
      index += 1;
      from = 0;
      continue;
    }
    const read = readUrl(pieces, index, start.index);
    if (read.url.length > 0) written.push(toWritten(read.url));
    index = read.index;
    from = read.from;
  }
  return written;
}

/** Reads a URL from `start` on, through the Liquid in it, to its end or to the end of the branch that it stands in. */
function readUrl(pieces: TextPiece[], startIndex: number, start: number) {
  const url: TextPiece[] = [];
  let depth = 0;
  let index = startIndex;
  let from = start;
  for (; index < pieces.length; index += 1, from = 0) {
    const { isLiquid, text } = pieces[index]!;
    if (isLiquid) {
      depth += depthOf(text);
      if (depth < 0 || (depth === 0 && isBranch(text))) break;
      url.push({ isLiquid, text });
      continue;
    }
    const end = endFrom(text, index === startIndex ? start + 'http://'.length : 0);
    if (end > from) url.push({ isLiquid, text: text.slice(from, end) });
    from = end;
    if (end < text.length) break;
  }
  return { url: trimmed(url), index, from };
}

function trimmed(url: TextPiece[]): TextPiece[] {
  const last = url.at(-1);
  if (!last || last.isLiquid) return url;
  const text = untrailed(last.text);
  // Punctuation alone behind Liquid does not belong to the URL.
  if (text === '') return url.slice(0, -1);
  // A scheme alone is no URL.
  if (url.length === 1 && /^https?:\/*$/i.test(text)) return [];
  return [...url.slice(0, -1), { isLiquid: false, text }];
}

function toWritten(url: TextPiece[]): WrittenUrl {
  const literals: string[] = [];
  let isOpen = false;
  for (const { isLiquid, text } of url) {
    isOpen = isLiquid;
    // The result of a tag is not known, so neither is the text behind it.
    if (isLiquid && text.startsWith('{%')) break;
    if (!isLiquid) literals.push(text);
  }
  return { text: url.map(({ text }) => text).join(''), literals, isOpen };
}

function depthOf(tag: string): number {
  const name = nameOf(tag);
  if (opening.has(name)) return 1;
  return name.startsWith('end') ? -1 : 0;
}

const isBranch = (tag: string) => ['else', 'elsif', 'when'].includes(nameOf(tag));
const nameOf = (tag: string) => /^\{%-?\s*([a-z]+)/.exec(tag)?.[1] ?? '';

function piecesOf(source: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  const starts = /\{[{%]/g;
  for (let start = starts.exec(source); start; start = starts.exec(source)) {
    const end = source.indexOf(start[0] === '{{' ? '}}' : '%}', start.index + 2);
    // Without its end it is no Liquid, and nothing behind it is Liquid either.
    if (end < 0) break;
    if (start.index > from) pieces.push({ isLiquid: false, text: source.slice(from, start.index) });
    pieces.push({ isLiquid: true, text: source.slice(start.index, end + 2) });
    from = end + 2;
    starts.lastIndex = from;
  }
  if (from < source.length) pieces.push({ isLiquid: false, text: source.slice(from) });
  return pieces;
}

import { isComment, type LiquidToken, replaceTokens } from './liquid-tokens.ts';
import type { MjmlOutline, MjmlRegion } from './mjml-elements.ts';

/** Attributes that mjml passes on unchanged. It computes widths from the others, or chooses the output by them. */
const handedOn = new Set(
  'href src alt title color background-color container-background-color background-url lang'.split(' '),
);
const blocks = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'raw']);
const branches = new Set(['else', 'elsif', 'when']);

/**
 * Tells whether Liquid stands only where mjml leaves text alone, so that it can be rendered after mjml. Anywhere else
 * Liquid may add or remove elements, and must be rendered first.
 */
export function isLiquidInText({ regions }: MjmlOutline, tokens: readonly LiquidToken[]): boolean {
  const sorted = regions.toSorted((a, b) => a.start - b.start);
  const depths = new Map<MjmlRegion, number>();
  let index = 0;
  for (const token of tokens) {
    if (isComment(token)) continue;
    while (index < sorted.length && sorted[index]!.end <= token.start) index += 1;
    const region = sorted[index];
    if (!region || region.start > token.start || region.end < token.end || region.kind === 'comment')
      return false;
    if (region.kind === 'attribute' && !handedOn.has(region.name)) return false;
    // A loop around elements may begin in one mj-raw and end in another.
    if (token.name === null || region.name === 'mj-raw') continue;
    const depth = depths.get(region) ?? 0;
    if (blocks.has(token.name)) depths.set(region, depth + 1);
    else if (token.name.startsWith('end')) depths.set(region, depth - 1);
    if (depth === 0 && (token.name.startsWith('end') || branches.has(token.name))) return false;
  }
  return [...depths.values()].every((depth) => depth === 0);
}

export type Hidden = {
  text: string;
  /** Begins every placeholder, and is nowhere else in the text. */
  prefix: string;
  /** Puts the Liquid back into the HTML; null when the result would not mean the same as the source. */
  restore: (html: string) => string | null;
  /** Returns the place in the source for a place in the text. */
  sourceOffset: (offset: number) => number;
};

const digits = 5;

/** Replaces each token by a word that mjml takes for text, a colour or an address. */
export function hide(source: string, all: readonly LiquidToken[]): Hidden {
  const prefix = unusedPrefix(source);
  const word = (index: number) => `${prefix}${String(index).padStart(digits, '0')}z`;
  const moves: { from: number; by: number }[] = [];
  let moved = 0;
  const text = replaceTokens(source, all, (token, index) => {
    const replacement = isComment(token) ? '' : word(index);
    moved += token.end - token.start - replacement.length;
    moves.push({ from: token.end - moved, by: moved });
    return replacement;
  });

  return {
    text,
    prefix,
    restore(html) {
      const words = new RegExp(`${prefix}(\\d{${digits}})z`, 'g');
      const found = [...html.matchAll(words)].map((match) => Number(match[1]));
      return isSameProgram(all, found)
        ? html.replace(words, (_word, index: string) => {
            const { start, end } = all[Number(index)]!;
            return source.slice(start, end);
          })
        : null;
    },
    sourceOffset: (offset) => offset + (moves.findLast(({ from }) => from <= offset)?.by ?? 0),
  };
}

/**
 * Tells whether every tag is there once and in order, and every output at least once and between the same tags as
 * before. Then every value is the same as in the source.
 */
function isSameProgram(all: readonly LiquidToken[], found: readonly number[]): boolean {
  const missing = new Set(all.keys().filter((index) => !isComment(all[index]!)));
  let tagsBefore = 0;
  const tagsUpTo = all.map((token) => {
    const before = tagsBefore;
    if (token.name !== null && !isComment(token)) tagsBefore += 1;
    return before;
  });
  let seen = 0;
  for (const index of found) {
    const token = all[index];
    if (!token || tagsUpTo[index] !== seen) return false;
    if (token.name !== null) seen += 1;
    missing.delete(index);
  }
  return missing.size === 0;
}

function unusedPrefix(source: string): string {
  let prefix = 'lq';
  while (source.toLowerCase().includes(prefix)) prefix += 'q';
  return prefix;
}

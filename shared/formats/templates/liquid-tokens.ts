/**
 * A piece of Liquid in a source. `name`: the name of a tag; null for an output. A comment is one token with its whole
 * content.
 */
export type LiquidToken = { start: number; end: number; name: string | null };

const tagName = /\s*-?\s*(#|[A-Za-z_]\w*)?/y;
const endOfComment = /\{%-?\s*endcomment\s*-?%\}/g;

/** Tells whether rendering could change the source. */
export function isLiquid(source: string): boolean {
  return source.includes('{{') || source.includes('{%');
}

/**
 * Finds the tokens of Liquid, cut as liquidjs cuts them. Leaves out a token that is not closed, which parsing
 * reports.
 */
export function liquidTokens(source: string): LiquidToken[] {
  const tokens: LiquidToken[] = [];
  for (let at = nextOpening(source, 0); at >= 0; ) {
    const isTag = source[at + 1] === '%';
    let end = isTag ? after(source.indexOf('%}', at + 2)) : endOfOutput(source, at + 2);
    if (end < 0) break;
    const name = isTag ? nameAt(source, at + 2) : null;
    if (name === 'comment') {
      endOfComment.lastIndex = end;
      if (!endOfComment.test(source)) break;
      end = endOfComment.lastIndex;
    }
    tokens.push({ start: at, end, name });
    at = nextOpening(source, end);
  }
  return tokens;
}

/** Tells whether a token is a comment, which renders to nothing and does nothing. */
export function isComment({ name }: LiquidToken): boolean {
  return name === 'comment' || name === '#';
}

/** Replaces all Liquid by text of the same length, so that other syntax can be read at the same places. */
export function mask(source: string, tokens: readonly LiquidToken[]): string {
  return replaceTokens(source, tokens, (token) =>
    (isComment(token) ? ' ' : 'x').repeat(token.end - token.start),
  );
}

export function replaceTokens(
  source: string,
  tokens: readonly LiquidToken[],
  replacementOf: (token: LiquidToken, index: number) => string,
): string {
  let text = '';
  let done = 0;
  for (const [index, token] of tokens.entries()) {
    text += source.slice(done, token.start) + replacementOf(token, index);
    done = token.end;
  }
  return text + source.slice(done);
}

const openings = /\{[{%]/g;

function nextOpening(source: string, from: number): number {
  openings.lastIndex = from;
  return openings.exec(source)?.index ?? -1;
}

const after = (found: number) => (found < 0 ? -1 : found + 2);

const outputMarks = /["']|\}\}/g;

/** Finds the end of an output. Braces inside quotes do not end an output, though they end a tag. */
function endOfOutput(source: string, from: number): number {
  let at = from;
  for (;;) {
    outputMarks.lastIndex = at;
    const mark = outputMarks.exec(source);
    if (!mark) return -1;
    if (mark[0] === '}}') return mark.index + 2;
    at = endOfQuoted(source, mark.index);
    if (at < 0) return -1;
  }
}

function endOfQuoted(source: string, start: number): number {
  const quote = source[start];
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === quote) return at + 1;
  }
  return -1;
}

function nameAt(source: string, at: number): string {
  tagName.lastIndex = at;
  return tagName.exec(source)?.[1] ?? '';
}

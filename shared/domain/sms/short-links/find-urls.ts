/** An http(s) URL in a text, and its place there. */
type FoundUrl = { url: string; start: number; end: number };

// Blanks, quotation marks of any kind, and the punctuation of scripts that write no blank after it.
const urlEnd = /[\s\p{Cc}<>"“”„‟«»`\u3000-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]/gu;
/** A URL does not begin inside a word: `xhttps://` begins none. */
export const urlStart = /(?<![A-Za-z0-9])https?:\/\//gi;
// Characters that follow a URL in a sentence and are no part of it.
const trailing = new Set(".,;:!?'’‘…");
const brackets: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** Finds the URLs of a text, in order. The text after the scheme need not make sense. */
export function* findUrls(text: string): Generator<FoundUrl> {
  let over = 0;
  for (const { 0: scheme, index: start } of text.matchAll(urlStart)) {
    // Skip a URL that begins inside the URL before.
    if (start < over) continue;
    const first = start + scheme.length;
    over = endFrom(text, first);
    const end = first + untrailed(text.slice(first, over)).length;
    if (end > first) yield { url: text.slice(start, end), start, end };
  }
}

/** Returns where a URL that began before `from` ends at the latest. */
export function endFrom(text: string, from: number): number {
  urlEnd.lastIndex = from;
  return urlEnd.exec(text)?.index ?? text.length;
}

/** Removes the punctuation at the end of a URL. A closing bracket belongs to the URL if it was opened there. */
export function untrailed(url: string): string {
  let end = url.length;
  const open = new Map<string, number>();
  for (const character of url) if (character in brackets || isOpening(character)) add(open, character, 1);
  while (end > 0) {
    const last = url[end - 1]!;
    const opening = brackets[last];
    if (opening !== undefined) {
      if ((open.get(last) ?? 0) <= (open.get(opening) ?? 0)) break;
      add(open, last, -1);
    } else if (isOpening(last)) add(open, last, -1);
    else if (!trailing.has(last)) break;
    end -= 1;
  }
  return url.slice(0, end);
}

const isOpening = (character: string) => character === '(' || character === '[' || character === '{';

function add(counts: Map<string, number>, character: string, by: number): void {
  counts.set(character, (counts.get(character) ?? 0) + by);
}

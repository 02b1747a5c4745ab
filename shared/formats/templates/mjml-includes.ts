import { liquidTokens, mask } from './liquid-tokens.ts';
import { type MjmlElement, offsetOf, outline, placeOf } from './mjml-elements.ts';

export const largestMjml = 256 * 1024;
export const deepestIncludes = 5;
const mostIncludes = 1_000;
/**
 * The most characters that are read to build one source. Text within an `mj-include` is read too, but is then left out.
 */
export const mostRead = 2 * largestMjml;

/** A stretch of the whole that comes from one text: the source, or the include of this name. */
type SourcePiece = { start: number; include: string | null; text: string; at: number };
export type Expanded = { text: string; pieces: SourcePiece[] };
export type SourceFault = { message: string; include: string | null; line?: number; column?: number };

type Reference = { element: MjmlElement; name: string | null };

function referencesIn(source: string): Reference[] {
  if (!/<mj-include/i.test(source)) return [];
  const { elements } = outline(mask(source, liquidTokens(source)));
  return elements
    .filter(({ name }) => name === 'mj-include')
    .map((element) => {
      const [path, ...others] = element.attributes;
      const isPlain = path?.name === 'path' && path.value !== '' && others.length === 0;
      // Liquid cannot be the name of an include, but its mask might be one by chance.
      const written = source.slice(element.start, element.end);
      return { element, name: isPlain && !/\{[{%]/.test(written) ? path.value : null };
    });
}

/** The names in the `mj-include` elements of a source, each once. */
export function includeNames(source: string): string[] {
  return [...new Set(referencesIn(source).flatMap(({ name }) => name ?? []))];
}

export function tooLarge(include: string | null): SourceFault {
  return { message: `is larger than ${largestMjml / 1024} kB with its includes`, include };
}

class IncludeRefusal extends Error {
  readonly fault: SourceFault;
  constructor(fault: SourceFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * Replaces every `mj-include` of the source by the content that it names. Stops at the first fault. `within`: the
 * names of the includes that this source is the content of, the outermost first.
 */
export function expand(
  source: string,
  contentOf: (name: string) => string | undefined,
  within: readonly string[] = [],
): Expanded | { fault: SourceFault } {
  const pieces: SourcePiece[] = [];
  const parts: string[] = [];
  let length = 0;
  let includes = 0;
  let read = 0;

  function add(text: string, include: string | null, at: number, end: number): void {
    if (end === at) return;
    pieces.push({ start: length, include, text, at });
    parts.push(text.slice(at, end));
    length += end - at;
    if (length > largestMjml) throw new IncludeRefusal(tooLarge(include));
  }

  function place(text: string, chain: readonly string[]): void {
    const include = chain.at(-1) ?? null;
    read += text.length;
    if (read > mostRead) throw new IncludeRefusal(tooLarge(include));
    let done = 0;
    for (const { element, name } of referencesIn(text)) {
      const refuse = (message: string) =>
        new IncludeRefusal({ message, include, ...placeOf(text, element.start) });
      if (name === null) throw refuse('mj-include takes the attribute path, a name, and nothing else');
      if (chain.includes(name)) throw refuse(`the include ${name} includes itself`);
      const content = contentOf(name);
      if (content === undefined) throw refuse(`there is no include named ${name.slice(0, 64)}`);
      if (chain.length >= deepestIncludes)
        throw refuse(`includes are nested more than ${deepestIncludes} levels deep`);
      includes += 1;
      if (includes > mostIncludes) throw refuse(`has more than ${mostIncludes} includes`);
      add(text, include, done, element.start);
      place(content, [...chain, name]);
      done = element.end;
    }
    add(text, include, done, text.length);
  }

  try {
    place(source, within);
  } catch (error) {
    if (error instanceof IncludeRefusal) return { fault: error.fault };
    throw error;
  }
  return { text: parts.join(''), pieces };
}

/** Returns where a place of the expanded text was written: in the source or in an include. */
export function origin(
  { text, pieces }: Expanded,
  { line, column, message }: { message: string; line?: number; column?: number },
): SourceFault {
  if (line === undefined || column === undefined) return { message, include: null };
  const offset = offsetOf(text, line, column);
  const piece = pieces.findLast(({ start }) => start <= offset);
  if (!piece) return { message, include: null, line, column };
  return { message, include: piece.include, ...placeOf(piece.text, piece.at + offset - piece.start) };
}

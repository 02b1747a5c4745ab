import { invalidFields, problem } from '../../shared/common/errors.ts';
import { mostFreeValues } from '../../shared/schemas/fields.ts';
import { fieldPath } from '../field-path.ts';

/** A place in a body: field names, and `*` for any item of an array. */
export type Path = readonly string[];

/** `isOnPath`: a searched place may be within this level, so its names are read. */
type Level = { isArray: boolean; isOnPath: boolean; key: string | null; index: number; awaitsKey: boolean };

/** Options of a scan. It replaces each string that it leaves out by `marker` and a number. */
type ScanOptions = {
  freeForm: readonly Path[];
  largeTexts?: readonly Path[];
  marker?: string;
  /** The most values that this body may have. */
  most?: number;
};

/** The place of a string that was left out, in bytes without its quotes. `isLarge`: its path is in `largeTexts`. */
export type LeftOut = { start: number; end: number; isLarge: boolean };

export const maxDepth = 32;
/** The most values of a body. Each object member and each array item is one; an empty object or array is one more. */
export const mostValues = 50_000;
/** The most bytes of a body without the strings that are left out. These bytes are parsed in one piece. */
const mostKeptBytes = 8 * 1024 * 1024;
const longBlankBytes = 64;
const longestKeyBytes = 256;
const noKey = Buffer.alloc(0);

function tooDeep() {
  return problem('malformed_json', { detail: `The body is nested deeper than ${maxDepth} levels.` });
}

/**
 * Reads JSON piece by piece before the parser does. Refuses a body that would block the event loop for all others: too
 * many levels, or too many values in all or in one free-form object. Only the parser checks that it is valid JSON.
 */
export function startScan({ freeForm, largeTexts = [], marker = '', most = mostValues }: ScanOptions) {
  const levels: Level[] = [];
  const kept: string[] = [];
  const leftOut: LeftOut[] = [];
  let keptBytes = 0;
  let values = 0;
  let freeValues = 0;
  /** The level of the free-form object that the scan is in; 0 outside of one. */
  let freeLevel = 0;
  /** The kind of the string that the scan is in. */
  let string: 'name' | 'value' | null = null;
  /** The last piece ended with a backslash, so the first byte of this piece is escaped. */
  let isEscaped = false;
  /** The string that is being left out. */
  let leaving: LeftOut | null = null;
  /** The member name as far as it was read; null outside of one, and for a name that is not needed. */
  let key: Buffer | null = null;
  const paths = [...freeForm, ...largeTexts];

  /**
   * Scans one piece of the body, which begins at the offset `at` and must not end within a UTF-8 sequence. A value
   * that continues in the next piece is left out too, because it may be of any length.
   */
  function take(bytes: Buffer, at: number): void {
    let from = 0;
    let index = 0;
    while (index < bytes.length) {
      if (string) {
        const start = isEscaped ? index + 1 : index;
        const end = closingQuote(bytes, start);
        isEscaped = end < 0 && isEscapedAt(bytes, bytes.length, start);
        if (key) addToKey(bytes.subarray(index, end < 0 ? bytes.length : end), end < 0);
        if (end < 0) {
          if (string === 'value' && !leaving) leaveOut(index, false);
          break;
        }
        string = null;
        index = end + 1;
        if (leaving) {
          leaving.end = at + end;
          leaving = null;
          from = end;
        } else closeKey();
        continue;
      }
      const byte = bytes[index]!;
      index += 1;
      if (byte === 0x22) {
        const top = levels.at(-1);
        string = top?.awaitsKey ? 'name' : 'value';
        key = top?.awaitsKey && top.isOnPath ? noKey : null;
        if (string === 'value' && isAtOneOf(largeTexts)) leaveOut(index, true);
      } else if (isBlank(byte)) {
        const start = index;
        while (index < bytes.length && isBlank(bytes[index]!)) index += 1;
        if (index - start < longBlankBytes) continue;
        keep(bytes, from, start);
        // One blank is kept, because it may separate two numbers.
        from = index - 1;
      } else takeStructure(byte);
    }
    if (!leaving) keep(bytes, from, bytes.length);

    function leaveOut(start: number, isLarge: boolean): void {
      keep(bytes, from, start);
      // Even an empty string makes an entry in `leftOut`, so each entry counts as a value.
      countValue();
      kept.push(`${marker}${leftOut.length}`);
      leaving = { start: at + start, end: -1, isLarge };
      leftOut.push(leaving);
    }
  }

  function keep(bytes: Buffer, from: number, to: number): void {
    keptBytes += to - from;
    if (keptBytes > mostKeptBytes)
      throw problem('payload_too_large', {
        detail: `The body may have at most ${mostKeptBytes} bytes, not counting its long texts.`,
      });
    kept.push(bytes.toString('utf8', from, to));
  }

  function takeStructure(byte: number): void {
    const top = levels.at(-1);
    if (byte === 0x7b || byte === 0x5b) {
      const isFree = freeLevel === 0 && isAtOneOf(freeForm);
      const isOnPath = isAboveOneOf(paths);
      levels.push({ isArray: byte === 0x5b, isOnPath, key: null, index: 0, awaitsKey: byte === 0x7b });
      if (levels.length > maxDepth) throw tooDeep();
      if (isFree) {
        freeLevel = levels.length;
        freeValues = 0;
      }
      countValue();
    } else if (byte === 0x7d || byte === 0x5d) {
      levels.pop();
      if (levels.length < freeLevel) freeLevel = 0;
    } else if (byte === 0x3a && top) top.awaitsKey = false;
    else if (byte === 0x2c) {
      countValue();
      if (!top) return;
      top.index += 1;
      top.awaitsKey = !top.isArray;
    }
  }

  function countValue(): void {
    values += 1;
    if (freeLevel > 0) freeValues += 1;
    if (freeValues > mostFreeValues) {
      const path = levels.slice(0, freeLevel - 1).map(({ isArray, key, index }) => (isArray ? index : key!));
      throw invalidFields({ [fieldPath(path)]: [`must have at most ${mostFreeValues} values`] });
    }
    if (values > most)
      throw problem('payload_too_large', {
        detail: `The body may have at most ${most} values; each member of an object and each item of an array counts as one.`,
      });
  }

  /** Adds to the name. A name that continues in the next piece is copied, because that piece overwrites this one. */
  function addToKey(part: Buffer, goesOn: boolean): void {
    if (key!.length > longestKeyBytes) return;
    key = goesOn || key!.length > 0 ? Buffer.concat([key!, part]) : part;
  }

  function closeKey(): void {
    const top = levels.at(-1);
    if (key && top) top.key = key.length > longestKeyBytes ? null : nameOf(key);
    key = null;
  }

  const isAtOneOf = (those: readonly Path[]) =>
    those.some((path) => path.length === levels.length && startsHere(path));
  const isAboveOneOf = (those: readonly Path[]) =>
    levels.at(-1)?.isOnPath !== false &&
    those.some((path) => path.length > levels.length && startsHere(path));
  /** Whether the path begins with the current place of the scan. */
  function startsHere(path: Path): boolean {
    return levels.every((level, depth) => {
      const name = path[depth];
      return name === '*' ? level.isArray : !level.isArray && level.key === name;
    });
  }

  return { take, leftOut, text: () => kept.join('') };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the name without its JSON escapes; null if an escape is invalid. */
function nameOf(spelt: Buffer): string | null {
  if (!spelt.includes(0x5c)) return spelt.toString();
  try {
    return JSON.parse(`"${spelt.toString()}"`);
  } catch {
    return null;
  }
}

/**
 * Whether the JSON has too few values to be refused for their number; throws if it is nested too deep. Most bodies are
 * small and need only this check, which is fast: a native search skips the strings.
 */
export function hasFewValues(bytes: Buffer): boolean {
  let depth = 0;
  let values = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte === 0x22) {
      index = closingQuote(bytes, index + 1);
      if (index < 0) return true;
    } else if (byte === 0x2c) values += 1;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) throw tooDeep();
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    if (values > mostFreeValues) return false;
  }
  return true;
}

/** Returns the index of the quote that closes a string, from `start` within the string on; -1 if there is none. */
function closingQuote(bytes: Buffer, start: number): number {
  let quote = bytes.indexOf(0x22, start);
  while (quote >= 0 && isEscapedAt(bytes, quote, start)) quote = bytes.indexOf(0x22, quote + 1);
  return quote;
}

/** Whether an odd number of backslashes, from `start` on, comes before `index`. */
export function isEscapedAt(bytes: Buffer, index: number, start = 0): boolean {
  let first = index;
  while (first > start && bytes[first - 1] === 0x5c) first -= 1;
  return (index - first) % 2 === 1;
}

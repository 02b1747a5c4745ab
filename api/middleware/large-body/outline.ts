import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { problem } from '../../../shared/errors.ts';
import { maxDepth, notUtf8, tooDeep } from '../json-body.ts';
import { cutBeforeSplit } from './cut.ts';
import type { LargeBody } from './spool.ts';

/** Where in a body a string may be left out: the names of fields, and `*` for any item of an array. */
export type Path = readonly string[];

/** Text of JSON in which strings stand for others: `marker` and the number of one in `texts`, where it lies. */
export type Outline = { json: string; marker: string; texts: { start: number; end: number }[] };

type Level = { isArray: boolean; key: string | null; awaitsKey: boolean };

// With nothing but empty objects 40 MB of JSON take a minute and gigabytes to parse.
const mostValues = 1_000_000;
const longestKeyBytes = 256;

/**
 * Reads a body without holding more of it than what is no string at one of `paths`. Refuses what is not UTF-8, and what
 * is too much for whoever walks through it; whether the rest is JSON is for the parser to say.
 */
export async function outlineOf(body: LargeBody, paths: readonly Path[]): Promise<Outline> {
  const marker = `${randomUUID()}:`;
  const scan = startScan(paths, marker);
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  for await (const piece of body.read()) {
    // A sequence of UTF-8 that is cut in two is looked at with what follows it.
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    const cut = cutBeforeSplit(bytes);
    const whole = bytes.subarray(0, cut);
    if (!isUtf8(whole)) throw notUtf8();
    scan.take(whole, at);
    at += cut;
    rest = Buffer.from(bytes.subarray(cut));
  }
  if (rest.length > 0) throw notUtf8();
  return { json: scan.finish(), marker, texts: scan.texts };
}

function startScan(paths: readonly Path[], marker: string) {
  const levels: Level[] = [];
  const kept: string[] = [];
  const texts: { start: number; end: number }[] = [];
  let values = 0;
  let inString = false;
  /** The string goes on with what a backslash in the piece before escapes. */
  let isEscaped = false;
  let leftOutFrom = -1;
  let key: Buffer[] | null = null;

  /** `at`: where in the body these bytes begin. */
  function take(bytes: Buffer, at: number): void {
    let from = 0;
    let index = 0;
    while (index < bytes.length) {
      if (inString) {
        const end = endOfString(bytes, index);
        key?.push(Buffer.from(bytes.subarray(index, end < 0 ? bytes.length : end)));
        if (end < 0) break;
        inString = false;
        index = end + 1;
        if (leftOutFrom >= 0) {
          texts.push({ start: leftOutFrom, end: at + end });
          leftOutFrom = -1;
          from = end;
        } else closeKey();
      } else {
        const byte = bytes[index]!;
        index += 1;
        if (byte === 0x22) {
          inString = true;
          const top = levels.at(-1);
          if (top?.awaitsKey) key = [];
          else if (isLeftOut()) {
            kept.push(bytes.toString('utf8', from, index), `${marker}${texts.length}`);
            leftOutFrom = at + index;
          }
        } else takeStructure(byte);
      }
    }
    if (leftOutFrom < 0) kept.push(bytes.toString('utf8', from));
  }

  function takeStructure(byte: number): void {
    const top = levels.at(-1);
    if (byte === 0x7b || byte === 0x5b) {
      values += 1;
      levels.push({ isArray: byte === 0x5b, key: null, awaitsKey: byte === 0x7b });
      if (levels.length > maxDepth) throw tooDeep();
    } else if (byte === 0x7d || byte === 0x5d) levels.pop();
    else if (byte === 0x3a && top) top.awaitsKey = false;
    else if (byte === 0x2c) {
      values += 1;
      if (top) top.awaitsKey = !top.isArray;
    }
    if (values > mostValues)
      throw problem('payload_too_large', { detail: `The body may have at most ${mostValues} values.` });
  }

  /** Where the string closes, from `start` on; -1 when it does not within these bytes. */
  function endOfString(bytes: Buffer, start: number): number {
    let from = isEscaped ? start + 1 : start;
    isEscaped = false;
    for (;;) {
      const quote = bytes.indexOf(0x22, from);
      const end = quote < 0 ? bytes.length : quote;
      let backslashes = 0;
      while (end - 1 - backslashes >= from && bytes[end - 1 - backslashes] === 0x5c) backslashes += 1;
      const isOdd = backslashes % 2 === 1;
      if (quote < 0) {
        isEscaped = isOdd;
        return -1;
      }
      if (!isOdd) return quote;
      from = quote + 1;
    }
  }

  function closeKey(): void {
    const top = levels.at(-1);
    if (!key || !top) return;
    const spelt = Buffer.concat(key);
    key = null;
    top.key = spelt.length > longestKeyBytes ? null : parsed(spelt);
  }

  function isLeftOut(): boolean {
    return paths.some(
      (path) =>
        path.length === levels.length &&
        path.every((name, depth) => {
          const level = levels[depth]!;
          return name === '*' ? level.isArray : !level.isArray && level.key === name;
        }),
    );
  }

  return { take, texts, finish: () => kept.join('') };
}

/** A name may be spelt with escapes. */
function parsed(spelt: Buffer): string | null {
  try {
    return JSON.parse(`"${spelt.toString()}"`);
  } catch {
    return null;
  }
}

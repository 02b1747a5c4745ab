import { isDeepStrictEqual } from 'node:util';
import { catalogue, Problem } from '../../../shared/common/errors.ts';
import type { Grammar } from '../grammar.ts';

/** A parser of the platform that meets foreign bytes. */
export type Target = {
  /** Also the folder of the target's finds in the corpus. */
  name: string;
  grammar: Grammar;
  /** The longest input that the callers of the parser let through. */
  mostBytes: number;
  /** Limit of CPU time of the calling thread. For a parser that reads in turns, it depends on the number of rows. */
  mostMs?: number | ((rows: number) => number);
  /**
   * Throws if the parser does anything but read or refuse, or reads another value than was written. A parser that reads
   * in turns returns the number of rows that it has read.
   */
  read: (bytes: Buffer) => unknown;
};

export const kib = 1024;
/** No request may hold the event loop for longer. */
export const longestStallMs = 200;

export function claim(isSo: boolean, text: string): asserts isSo {
  if (!isSo) throw new Error(text);
}

export function claimEqual(one: unknown, other: unknown, text: string): void {
  claim(isDeepStrictEqual(one, other), text);
}

/** Returns null for a refusal with a status below 500, and throws any other error. */
export function orRefused<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem && catalogue[error.code].status < 500) return null;
    throw error;
  }
}

/** Checks that a message for customers does not name files of the platform. */
export function claimNoPath(message: string): void {
  claim(
    !/node_modules|\bfile:|\.[jt]s:\d|\n {4}at /.test(message),
    `the message tells of our files: ${message}`,
  );
}

/** Adapts a parser of text: bytes that are not UTF-8 become U+FFFD, as they do where requests are read. */
export const ofText =
  (read: (text: string) => unknown): Target['read'] =>
  (bytes) =>
    read(bytes.toString());

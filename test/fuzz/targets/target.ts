import { isDeepStrictEqual } from 'node:util';
import { catalogue, Problem } from '../../../shared/common/errors.ts';
import type { Grammar } from '../grammar.ts';

/** A parser of the platform that meets foreign bytes. */
export type Target = {
  /** The folder of its finds in the corpus, too. */
  name: string;
  grammar: Grammar;
  /** The longest that it is given: what its callers let through. */
  mostBytes: number;
  /** Of CPU time of the thread that calls it. Of one that reads in turns it goes by the rows that it has read. */
  mostMs?: number | ((rows: number) => number);
  /**
   * Throws where the parser does anything but read or refuse, or what it has read is not what was written. One that reads in
   * turns returns how many rows it has read.
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

/** A refusal that the API has a status below 500 for. */
export function orRefused<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem && catalogue[error.code].status < 500) return null;
    throw error;
  }
}

/** The message of a fault that a customer gets must not tell of our files. */
export function claimNoPath(message: string): void {
  claim(
    !/node_modules|\bfile:|\.[jt]s:\d|\n {4}at /.test(message),
    `the message tells of our files: ${message}`,
  );
}

/** For parsers of a text: bytes that are no UTF-8 become U+FFFD, as they do where requests are read. */
export const ofText =
  (read: (text: string) => unknown): Target['read'] =>
  (bytes) =>
    read(bytes.toString());

import { InvalidArgumentError } from 'commander';
import { type IdPrefix, isId } from '../../../shared/formats/ids.ts';

/** The functions that all commands of the operator share. */
export type Tools = {
  /** Prints one record or a list. */
  print: (result: object | object[]) => void;
  /** Prints a list that was read with one row more than it may show. */
  printFirst: (rows: object[], most: number) => void;
  /** Tells the operator something beside the result. */
  tell: (line: string) => void;
  /** Returns the id itself, if there is such a workspace. */
  workspaceOf: (id: string) => Promise<string>;
};

export function idOf(prefix: IdPrefix, text: string): string {
  if (!isId(prefix, text)) throw new Error(`${String(text)} is not the id of a ${prefix}`);
  return text;
}

/** Makes the parser of an option that is a text of a limited length. */
export const textUpTo =
  (most: number, least = 0) =>
  (text: string): string => {
    const { length } = [...text];
    if (length > most || length < least)
      throw new InvalidArgumentError(
        `It must have ${least > 0 ? `${least} to` : 'at most'} ${most} characters.`,
      );
    return text;
  };

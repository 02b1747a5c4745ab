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

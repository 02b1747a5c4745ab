export type Row = {
  tried: string;
  expected: string;
  /** Why no test can show all of it. */
  untested?: string;
};

export type Group = { title: string; rows: Readonly<Record<string, Row>> };

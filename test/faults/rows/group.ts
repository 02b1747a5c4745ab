export type Row = {
  tried: string;
  expected: string;
};

export type Group = { title: string; rows: Readonly<Record<string, Row>> };

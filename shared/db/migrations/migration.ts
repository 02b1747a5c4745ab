/** `up` and `down`: statements in order, each of which may run again after a crash half way. */
export type Migration = { name: string; up: string[]; down: string[] };

// Text compares as bytes and its collation is named everywhere: server defaults differ between engines.
export const tableOptions =
  'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ROW_FORMAT=DYNAMIC';

/** Joins rows into batches: while one is on its way, the next fills. Resolves when the row is on disk. */
export function rowWriter<Row>(run: (rows: Row[]) => Promise<unknown>): (row: Row) => Promise<void> {
  let waiting: { row: Row; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await run(batch.map(({ row }) => row));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject });
      if (!isWriting) setImmediate(() => void (isWriting || write()));
    });
}

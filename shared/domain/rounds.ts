type Waiting<Id extends string> = Record<Id, string> & { dueAt: Date };

/**
 * Goes through those (webhooks, workspaces) that have something due by then, a page at a time, until a run has done
 * enough; the next run of this process goes on from there. So everybody's turn comes, and nobody's backlog stands before
 * the others'. Each costs a step along an index, however much waits for it.
 */
export function rounds<Id extends string>(options: {
  id: Id;
  list: (after: string | null, limit: number) => Promise<Waiting<Id>[]>;
  pageSize: number;
  /** Enough for one run. */
  most: number;
}) {
  const { id, list, pageSize, most } = options;
  let reached: string | null = null;
  return async (dueBefore: Date, work: (ids: string[], left: number) => Promise<number>): Promise<number> => {
    let done = 0;
    while (done < most) {
      const page: Waiting<Id>[] = await list(reached, pageSize);
      const due = page.filter(({ dueAt }) => dueAt <= dueBefore).map((waiting) => waiting[id]);
      if (due.length > 0) done += await work(due, most - done);
      reached = page.length < pageSize ? null : page.at(-1)![id];
      if (!reached) break;
    }
    return done;
  };
}

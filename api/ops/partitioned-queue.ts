import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Job, Queue } from 'bullmq';

type Given<Method extends keyof BullMQAdapter> = BullMQAdapter[Method] extends (
  ...args: infer Args
) => unknown
  ? Args
  : never;

/**
 * Shows the partitions of a queue as one queue. An action on the whole queue is done in every partition, and an action
 * on a job in the partition of the job.
 */
export class PartitionedQueue extends BullMQAdapter {
  readonly #partitions: BullMQAdapter[];

  constructor(partitions: Queue[]) {
    super(partitions[0]!);
    this.#partitions = partitions.map((queue) => new BullMQAdapter(queue));
  }

  #each<T>(ask: (partition: BullMQAdapter) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#partitions.map(ask));
  }

  override async getJobCounts() {
    const [total = {}, ...others] = await this.#each((partition) => partition.getJobCounts());
    for (const counts of others)
      for (const state of Object.keys(counts) as (keyof typeof counts)[])
        total[state] = (total[state] ?? 0) + (counts[state] ?? 0);
    return total;
  }

  /** Returns the jobs from `start` to `end` of each status. With partitions, a late page costs all jobs before it. */
  override async getJobs(statuses: Given<'getJobs'>[0], start = 0, end = -1): Promise<Job[]> {
    if (this.#partitions.length === 1) return super.getJobs(statuses, start, end);
    const pages = statuses.map(async (status) => {
      const jobs = await this.#each((partition) => partition.getJobs([status], 0, end));
      return merge(jobs).slice(start, end < 0 ? undefined : end + 1);
    });
    return (await Promise.all(pages)).flat();
  }

  override async getJob(id: string) {
    return (await this.#each((partition) => partition.getJob(id))).find((job) => job !== undefined);
  }

  override async getJobLogs(id: string) {
    return (await this.#each((partition) => partition.getJobLogs(id))).flat();
  }

  /**
   * The workers of the partition that has the fewest. A process reads every partition, so it counts once; and a
   * partition without workers is seen.
   */
  override async getWorkers() {
    const workers = await this.#each((partition) => partition.getWorkers());
    return workers.reduce((fewest, others) =>
      (others?.length ?? 0) < (fewest?.length ?? 0) ? others : fewest,
    );
  }

  override async isPaused() {
    return (await this.#each((partition) => partition.isPaused())).includes(true);
  }

  override async pause() {
    await this.#each((partition) => partition.pause());
  }

  override async resume() {
    await this.#each((partition) => partition.resume());
  }

  override async clean(...given: Given<'clean'>) {
    await this.#each((partition) => partition.clean(...given));
  }

  override async empty() {
    await this.#each((partition) => partition.empty());
  }

  override async promoteAll() {
    await this.#each((partition) => partition.promoteAll());
  }

  override async obliterate(...given: Given<'obliterate'>) {
    await this.#each((partition) => partition.obliterate(...given));
  }

  /** Returns the share of one partition in a limit of the queue: at least 1 of any limit. */
  #shareOf(limit: number): number {
    return Math.ceil(limit / this.#partitions.length);
  }

  override async getGlobalConcurrency() {
    const limits = await this.#each((partition) => partition.getGlobalConcurrency());
    return limits.reduce((sum, limit) => (sum === null || limit === null ? null : sum + limit));
  }

  override async setGlobalConcurrency(concurrency: number) {
    await this.#each((partition) => partition.setGlobalConcurrency(this.#shareOf(concurrency)));
  }

  override async getConfiguredRateLimit() {
    const limits = await this.#each((partition) => partition.getConfiguredRateLimit());
    return limits.reduce((sum, limit) => sum && limit && { ...limit, max: sum.max + limit.max });
  }

  override async setConfiguredRateLimit({ max, duration }: Given<'setConfiguredRateLimit'>[0]) {
    await this.#each((partition) => partition.setConfiguredRateLimit({ max: this.#shareOf(max), duration }));
  }

  override async removeConfiguredRateLimit() {
    await this.#each((partition) => partition.removeConfiguredRateLimit());
  }

  override async getActiveRateLimitTtl() {
    return Math.max(...(await this.#each((partition) => partition.getActiveRateLimitTtl())));
  }

  override async releaseActiveRateLimit() {
    await this.#each((partition) => partition.releaseActiveRateLimit());
  }
}

/**
 * Merges lists, the latest job first. The order within a list stays, so each job has one place, on whichever page it
 * is.
 */
function merge(lists: Job[][]): Job[] {
  const merged: Job[] = [];
  for (;;) {
    const [next] = lists
      .filter((list) => list.length > 0)
      .toSorted((one, other) => timeOf(other[0]!) - timeOf(one[0]!));
    if (!next) return merged;
    merged.push(next.shift()!);
  }
}

/** The time by which BullMQ orders most lists of jobs. */
const timeOf = ({ finishedOn, timestamp, delay }: Job): number => finishedOn ?? timestamp + delay;

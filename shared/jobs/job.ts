import type { z } from 'zod';

/**
 * The contract of a job: what a payload holds and which lanes it has. File name = job name. Each lane is a queue of
 * its own, so that jobs that wait in one lane never hold up jobs that are due in another.
 */
export type Job<Payload = any, Lane extends string = string> = {
  name: string;
  /** Lane -> queue name. */
  lanes: Record<Lane, string>;
  payload: z.ZodType<Payload>;
};

export function defineJob<Payload, const Lane extends string>(job: {
  name: string;
  lanes: Record<Lane, string>;
  payload: z.ZodType<Payload>;
}): Job<Payload, Lane> {
  return job;
}

export type Chosen = { job: Job; queueNames: string[] };

/**
 * The jobs that a process runs, by a word of the Procfile: `send-email` is a job with all its lanes,
 * `send-email:marketing` one of them.
 */
export function chosenOf(word: string, jobs: readonly Job[]): Chosen {
  const [name, lane] = word.split(':');
  const job = jobs.find((job) => job.name === name);
  if (!job) throw new Error(`There is no job "${name}". Jobs: ${jobs.map((job) => job.name).join(' ')}`);
  const lanes: Record<string, string> = job.lanes;
  if (lane === undefined) return { job, queueNames: Object.values(lanes) };
  const queueName = Object.hasOwn(lanes, lane) ? lanes[lane] : undefined;
  if (queueName === undefined)
    throw new Error(`${name} has no lane "${lane}". Lanes: ${Object.keys(lanes).join(' ')}`);
  return { job, queueNames: [queueName] };
}

import type { z } from 'zod';

/**
 * The contract of a job: what a payload holds and which lanes it has. File name = job name; each lane is a
 * queue of its own, so that what waits in one never stands before what is due in another.
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

import { config } from '../../config.ts';

/** What is due no later than in this time counts as due. */
export const soonMs = 5_000;

/** How many of what is due much later may be in Redis; the rest is for what comes up before it. */
export function windowForLater(): number {
  return Math.ceil(config.EMAIL_JOBS_PER_WORKSPACE / 2);
}

/** So many go at a time when workspaces take turns. */
export const perRank = 25;

/**
 * The priority of a job of a workspace that has so many in Redis: its first ones go beside those of others, and the
 * further back the later, so that workspaces with a backlog take turns and those without one pass them.
 */
export function rankOf(admitted: number): number {
  return Math.floor(Math.max(0, admitted) / perRank);
}

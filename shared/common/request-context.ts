import { AsyncLocalStorage } from 'node:async_hooks';

type RequestContext = {
  requestId: string;
  /** Only in a request, not in a job. */
  caller?: RequestCaller;
};

/** Somebody who waits for an answer, for as long as the connection of the request is open. */
export type RequestCaller = {
  hasGone: () => boolean;
  /** Calls `listener` once the caller has gone; returns how to take that back. */
  onGone: (listener: () => void) => () => void;
};

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work` as part of a request; jobs that it causes and lines that it logs can name the request. */
export function runWithRequest<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** The id of the request, or of the request that caused this job; null outside both. */
export function requestId(): string | null {
  return storage.getStore()?.requestId ?? null;
}

/** Whether nobody waits for the answer of the request any more; false outside of one. */
export function hasCallerGone(): boolean {
  return requestCaller()?.hasGone() ?? false;
}

/** The caller that waits for the answer of the request; undefined outside of one. */
export function requestCaller(): RequestCaller | undefined {
  return storage.getStore()?.caller;
}

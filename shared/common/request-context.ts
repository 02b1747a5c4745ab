import { AsyncLocalStorage } from 'node:async_hooks';

type RequestContext = {
  requestId: string;
  /** Of a request: whether its connection has closed before the answer. */
  hasCallerGone?: () => boolean;
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
  return storage.getStore()?.hasCallerGone?.() ?? false;
}

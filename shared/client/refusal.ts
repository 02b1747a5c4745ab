import type { Schema } from './operations.ts';

type Document = Partial<Schema<'Problem'>>;
export type ProblemCode = Schema<'ProblemCode'>;

/** The API has refused a request, or could not do it. */
export class Refusal extends Error {
  readonly status: number;
  /** Names the reason and never changes; null where the answer is no problem document, such as that of a proxy. */
  readonly code: ProblemCode | null;
  /** Field -> what is wrong with it. */
  readonly errors: Record<string, string[]>;
  /** Finds the request in the logs of the service. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(response: Response, text: string) {
    const document = documentOf(text);
    const code = /\/problems\/([a-z0-9_]+)$/.exec(document.type ?? '')?.[1];
    const errors = document.errors ?? {};
    const faults = Object.entries(errors).map(([field, messages]) => `${field} ${messages.join(', ')}`);
    const detail = faults.length > 0 ? faults.join('; ') : (document.detail ?? text.slice(0, 200));
    super(`${response.status} ${code ?? response.statusText}: ${detail}`);
    this.name = 'Refusal';
    this.status = response.status;
    this.code = (code as ProblemCode | undefined) ?? null;
    this.errors = errors;
    this.requestId = document.requestId ?? response.headers.get('request-id');
    this.retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
  }
}

function documentOf(text: string): Document {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function secondsOf(field: string | null): number | null {
  if (field === null) return null;
  const seconds = /^\d+$/.test(field) ? Number(field) : (Date.parse(field) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

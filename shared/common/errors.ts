import { config } from '../config/config.ts';

/** The error catalogue (API decisions §2): code -> HTTP status, title, and the help shown at /problems/{code}. */
export const catalogue = {
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    help: 'Each entry of `errors` names a field and says what is wrong with it. Correct them and send again.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    help: 'Send one JSON object in UTF-8, nested no deeper than 32 levels.',
  },
  unsupported_version: {
    status: 400,
    title: 'Unknown API version',
    help: 'Leave Service-Version out, or name a version that this service knows.',
  },
  idempotency_key_required: {
    status: 400,
    title: 'An Idempotency-Key is required',
    help: 'The API key is in strict mode: every POST and PATCH must carry an Idempotency-Key header.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: 'The Idempotency-Key is not valid',
    help: 'Send one Idempotency-Key header with 1 to 255 visible ASCII characters.',
  },
  unauthenticated: {
    status: 401,
    title: 'No valid key or token',
    help: 'Send `Authorization: Bearer` with an API key that exists, is active and has not expired.',
  },
  signature_required: {
    status: 401,
    title: 'The request must be signed',
    help: 'The API key is in strict mode: sign every request (RFC 9421).',
  },
  signature_invalid: {
    status: 401,
    title: 'The request signature does not verify',
    help: 'See `detail` for the check that failed. Sign the bytes that are sent, with the key of this API key.',
  },
  forbidden: {
    status: 403,
    title: 'The caller may not do this',
    help: 'The API key lacks the scope that `detail` names.',
  },
  sending_blocked: {
    status: 403,
    title: 'Sending is blocked for this workspace',
    help: 'The operator has blocked sending. Ask them why.',
  },
  webhooks_not_enabled: {
    status: 403,
    title: 'v2 webhooks are not enabled for this workspace',
    help: 'Ask the operator to enable them.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    help: '`detail` says whether the path is unknown, or the id in it: no such record exists in this workspace.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'The Allow header lists the methods of this path.',
  },
  name_taken: { status: 409, title: 'The name is in use', help: 'Choose another name.' },
  number_taken: {
    status: 409,
    title: 'Another contact has this number',
    help: 'Change that contact instead.',
  },
  webhook_exists: {
    status: 409,
    title: 'There is such a webhook already',
    help: 'See `detail` for which one has the same url, events and inboundNumber. Change that one, or delete it first.',
  },
  webhook_disabled: {
    status: 409,
    title: 'The webhook is switched off or paused',
    help: 'Correct what made it fail, set `active` to true by PATCH /v2/webhooks/{id}, and send this again.',
  },
  contacts_conflict: {
    status: 409,
    title: 'Another request created some of these contacts',
    help: 'Send the batch again.',
  },
  list_not_static: {
    status: 409,
    title: 'The list is not static',
    help: 'Only static lists take members; the built-in list and dynamic lists fill themselves.',
  },
  list_copy_in_progress: {
    status: 409,
    title: 'Another copy into this list is in progress',
    help: 'Wait until copyInProgress is false.',
  },
  sender_awaiting_verification: {
    status: 409,
    title: 'Another mobile number awaits verification',
    help: 'Verify or cancel that one first.',
  },
  sender_rejected: {
    status: 409,
    title: 'This sender was rejected before',
    help: 'GET /v2/senders says why for each country. Ask the operator to look at it again.',
  },
  sender_not_approved: {
    status: 409,
    title: 'The sender is not approved',
    help: 'GET it for its status. A name is reviewed; a mobile number is verified by the code that was texted to it.',
  },
  not_cancellable: {
    status: 409,
    title: 'It can no longer be cancelled',
    help: 'A scheduled message can be cancelled while it still waits, and a sender unless `detail` says otherwise.',
  },
  not_paused: {
    status: 409,
    title: 'The batch is not paused',
    help: 'Only a paused batch can be resumed. GET it for its status.',
  },
  not_rotatable: {
    status: 409,
    title: 'The key cannot be rotated',
    help: 'See `detail`: it has expired, has been rotated already, or has no secret of its own. Rotate the key that took its place, or make a new one.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    help: 'Send it again after Retry-After to get its answer.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key belongs to another request',
    help: 'Use a new key for each new request.',
  },
  in_use: { status: 409, title: 'It is in use', help: 'See `detail` for what uses it.' },
  limit_exceeded: {
    status: 409,
    title: 'The workspace has as many as it may have',
    help: 'Delete one that is no longer needed; or, where `detail` speaks of messages that wait, come again when some have been sent.',
  },
  cursor_expired: {
    status: 410,
    title: 'The cursor is no longer good',
    get help() {
      return `Events are kept for ${config.EVENT_RETENTION_DAYS} days; and after the service was restored from a backup, a cursor from the time that was lost is no longer good. Start again with \`since\`, and pass over the events whose ids you have seen.`;
    },
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    help: 'See `detail` for the limit: of bytes, or of values, where each member of an object and each item of an array is one.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body must be JSON in UTF-8',
    help: 'Send Content-Type: application/json, with no Content-Encoding.',
  },
  recipient_suppressed: {
    status: 422,
    title: 'The recipient is suppressed',
    help: 'The number is on the suppression list.',
  },
  header_fields_too_large: {
    status: 431,
    title: 'The request headers are too large',
    help: 'Send shorter headers, or a shorter URL.',
  },
  rate_limited: { status: 429, title: 'Too many requests', help: 'Wait for Retry-After.' },
  limit_reached: {
    status: 429,
    title: 'The sending limit of this key is used up',
    help: 'Wait for Retry-After, or raise the limit.',
  },
  verification_limit_reached: {
    status: 429,
    title: 'Too many verification codes for this number',
    help: 'Wait for Retry-After.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    help: 'Send the whole request within 30 seconds; one of more than 1 MiB within 2 minutes, without a pause of 10 seconds.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong here',
    help: 'The fault is ours. Quote requestId to the operator.',
  },
  service_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    help: 'Send it again after Retry-After. Nothing was changed.',
  },
  email_not_queued: {
    status: 503,
    title: 'The email could not be queued right now',
    help: 'Send it again after Retry-After.',
  },
  verification_not_sent: {
    status: 503,
    title: 'The verification code could not be sent',
    help: 'Send it again after Retry-After.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>;

export type ErrorCode = keyof typeof catalogue;
/** Field path (`template.name`, `messages[3]`) -> what is wrong with it. */
export type FieldErrors = Record<string, string[]>;

type ProblemOptions = {
  detail?: string;
  errors?: FieldErrors;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
};

/** A refusal that the caller is told about. Most other errors become internal_error (toProblem of the API). */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly options: ProblemOptions;
  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    const detail = options.detail ?? (code === 'not_found' ? unknownId : undefined);
    super(`${code}: ${detail ?? catalogue[code].title}`);
    this.name = 'Problem';
    this.code = code;
    this.options = detail === undefined ? options : { ...options, detail: sentence(detail) };
  }
}

/**
 * One answer for an id of the wrong form, an id without a record, and an id of another workspace (API decisions §1).
 */
const unknownId = 'The id in the path is unknown: no record of this workspace has it.';

/** Every `detail` is a whole sentence (API decisions §1). */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

export function problem(code: ErrorCode, options?: ProblemOptions): Problem {
  return new Problem(code, options);
}

/** Returns the record that a caller asked for; throws not_found where there is none. */
export function orNotFound<T>(record: T | null, detail?: string): T {
  if (record === null) throw problem('not_found', detail === undefined ? {} : { detail });
  return record;
}

/**
 * Whether the error is an outage: the work itself has no fault, and can be repeated when the missing server is back.
 */
export function isOutage(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'service_unavailable';
}

/** validation_failed for one field. */
export function invalid(field: string, message: string): Problem {
  return invalidFields({ [field]: [message] });
}

/** Returns validation_failed for all faults of a request; `detail` is made of the first one. */
export function invalidFields(errors: FieldErrors): Problem {
  const [[field, [message]]] = Object.entries(errors) as [[string, [string]]];
  return new Problem('validation_failed', { detail: `${field} ${message}`, errors });
}

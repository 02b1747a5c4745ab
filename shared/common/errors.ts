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
    title: 'The body is not valid JSON',
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
    title: 'The API key or token is missing or not valid',
    help: 'Send the header `Authorization: Bearer` with an API key or token that exists, is active and has not expired.',
  },
  signature_required: {
    status: 401,
    title: 'The request must be signed',
    help: 'The API key is in strict mode: sign every request (RFC 9421).',
  },
  signature_invalid: {
    status: 401,
    title: 'The request signature is not valid',
    help: '`detail` names the check that failed. Sign exactly the bytes that you send, with the signing key of this API key.',
  },
  forbidden: {
    status: 403,
    title: 'The API key or token does not allow this',
    help: '`detail` says what is missing, usually a scope. Use a key that has it.',
  },
  sending_blocked: {
    status: 403,
    title: 'Sending is blocked for this workspace',
    help: 'The operator has blocked sending. Ask the operator for the reason.',
  },
  webhooks_not_enabled: {
    status: 403,
    title: 'v2 webhooks are not enabled for this workspace',
    help: 'Ask the operator to enable them.',
  },
  not_found: {
    status: 404,
    title: 'The path or the record does not exist',
    help: '`detail` says which it is: the path is unknown, or this workspace has no record with the id in the path. Check the path, the id, and that the key is of the right workspace.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not allow this method',
    help: 'Use one of the methods that the Allow header lists.',
  },
  name_taken: { status: 409, title: 'The name is already in use', help: 'Choose another name.' },
  number_taken: {
    status: 409,
    title: 'Another contact has this number',
    help: 'Update that contact instead: PATCH /v2/contacts/{id}, or POST /v2/contacts/batch with the number.',
  },
  webhook_exists: {
    status: 409,
    title: 'An identical webhook already exists',
    help: '`detail` names the webhook that has the same url, events and inboundNumber. Update that webhook, or delete it first.',
  },
  webhook_disabled: {
    status: 409,
    title: 'The webhook is switched off or paused',
    help: 'If it was switched off, correct the fault of its endpoint first. Then set `active` to true with PATCH /v2/webhooks/{id}, and send this request again.',
  },
  contacts_conflict: {
    status: 409,
    title: 'Another request created some of these contacts',
    help: 'Nothing was changed. Send the same request again.',
  },
  list_not_static: {
    status: 409,
    title: 'The list is not static',
    help: 'You can add contacts to a static list, and remove them from it. The platform decides which contacts are in the built-in list and in dynamic lists. The built-in list cannot be changed or deleted.',
  },
  list_copy_in_progress: {
    status: 409,
    title: 'Another copy into this list is in progress',
    help: 'Wait until `copyInProgress` of the list is false, and send this request again.',
  },
  sender_awaiting_verification: {
    status: 409,
    title: 'Another mobile number awaits verification',
    help: 'First verify that number, or cancel its request.',
  },
  sender_rejected: {
    status: 409,
    title: 'This sender was rejected before',
    help: 'GET /v2/senders gives the reason for each country. Ask the operator to review the sender again.',
  },
  sender_not_approved: {
    status: 409,
    title: 'The sender is not approved',
    help: 'GET /v2/senders/{id} gives its status. The operator reviews a name. You verify a mobile number with the code that was texted to it.',
  },
  not_cancellable: {
    status: 409,
    title: 'This cannot be cancelled',
    help: '`detail` gives the reason. A scheduled message can be cancelled only while it waits to be sent.',
  },
  not_paused: {
    status: 409,
    title: 'The batch is not paused',
    help: 'Only a paused batch can be resumed. GET /v2/sms/batches/{id} gives its status.',
  },
  not_rotatable: {
    status: 409,
    title: 'The key cannot be rotated',
    help: '`detail` gives the reason: the key has expired, was already rotated, or has no signing secret. Rotate the key that replaced it, or create a new key.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    help: 'The first request with this key is still running. Wait for Retry-After, then send the same request again to get its answer.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used for a different request',
    help: 'Use a new key for each new request. Use the same key only to repeat exactly the same request.',
  },
  in_use: { status: 409, title: 'The record is in use', help: '`detail` says what uses it, and what to do.' },
  limit_exceeded: {
    status: 409,
    title: 'The workspace has reached a limit',
    help: '`detail` names the limit. For a limit of records, delete a record that you no longer need. For a limit of work that waits or is running, wait until some of it is done, and send this request again.',
  },
  cursor_expired: {
    status: 410,
    title: 'The cursor is no longer valid',
    get help() {
      return `Events are kept for ${config.EVENT_RETENTION_DAYS} days, and an older cursor is not valid. If the service was restored from a backup, a cursor from after that backup is not valid either. Start again with \`since\`, and ignore the events whose ids you have already seen.`;
    },
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    help: '`detail` gives the limit. It is a number of bytes, or a number of values: each member of an object and each item of an array counts as one value. Send less in one request.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body must be JSON in UTF-8',
    help: 'Send the header Content-Type: application/json, and no Content-Encoding. For an operation that takes a file, `detail` gives the type to send.',
  },
  recipient_suppressed: {
    status: 422,
    title: 'The recipient is suppressed',
    help: 'The recipient is on the suppression list of this workspace, so nothing is sent to it. GET /v2/suppressions gives the source and the reason.',
  },
  header_fields_too_large: {
    status: 431,
    title: 'The request headers are too large',
    help: 'Send shorter headers, or a shorter URL.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'Wait for Retry-After, then send the request again.',
  },
  limit_reached: {
    status: 429,
    title: 'The sending limit of this key is used up',
    help: 'Wait for Retry-After, when a new day or month begins (UTC). Or raise the limit of the key with another key.',
  },
  verification_limit_reached: {
    status: 429,
    title: 'Too many verification codes for this number',
    help: 'Wait for Retry-After, then send the request again.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    help: 'Send the whole request within 30 seconds. A request of more than 1 MiB has 2 minutes, but must not pause for 10 seconds.',
  },
  internal_error: {
    status: 500,
    title: 'The service has an internal error',
    help: 'Your request is not the cause. Give the `requestId` to the operator.',
  },
  service_unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable',
    help: 'Nothing was changed. Wait for Retry-After, then send the request again.',
  },
  email_not_queued: {
    status: 503,
    title: 'The email could not be queued right now',
    help: 'Nothing was sent. Wait for Retry-After, then send the request again.',
  },
  verification_not_sent: {
    status: 503,
    title: 'The verification code could not be sent',
    help: 'Wait for Retry-After, then send the request again.',
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
const unknownId = 'The id in the path is unknown: this workspace has no record with it.';

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

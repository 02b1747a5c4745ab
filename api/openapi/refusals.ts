import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { catalogue, type ErrorCode } from '../../shared/common/errors.ts';
import { ProblemDocument } from '../../shared/schemas/problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { takesIdempotencyKey } from '../middleware/idempotency.ts';
import { problemAddress } from '../middleware/problems.ts';
import { everyAnswer, retryAfter, retryAfterInProgress } from './headers.ts';

/** The codes that an operation can answer with: its own, and those that come with its shape. */
export function problemsOf(endpoint: Endpoint): ErrorCode[] {
  const { params, problems } = endpoint;
  const codes: ErrorCode[] = [
    ...generalProblems,
    ...(params ? (['not_found'] as const) : []),
    ...(takesIdempotencyKey(endpoint.method) ? idempotencyProblems : []),
    ...problems,
  ];
  return [...new Set(codes)].toSorted((one, other) => catalogue[one].status - catalogue[other].status);
}

const generalProblems: readonly ErrorCode[] = [
  // Any operation can answer with this code for an unknown query parameter, even if it takes no parameters.
  'validation_failed',
  // Any request may carry a body. The body is read even if the operation has no use for it.
  'malformed_json',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_version',
  'unauthenticated',
  'signature_required',
  'signature_invalid',
  'forbidden',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];

const idempotencyProblems = [
  'idempotency_key_invalid',
  'idempotency_key_required',
  'idempotency_in_progress',
  'idempotency_key_reused',
] as const;

export type Refusals = Map<string, ZodOpenApiResponseObject>;

/** The name of a refusal in the description: by its status, and by the codes that not every operation has. */
function nameOf(codes: readonly ErrorCode[]): string {
  const takesKey = codes.some((code) => (idempotencyProblems as readonly ErrorCode[]).includes(code));
  const own = codes.filter(
    (code) => ![...generalProblems, ...idempotencyProblems, 'not_found'].includes(code),
  );
  const words = [...(takesKey ? ['idempotency'] : []), ...own].map(pascal);
  return `${statusNames[catalogue[codes[0]!].status]}${words.join('')}`;
}

const pascal = (code: string) =>
  code.replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());

const statusNames: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

/** One response for all codes of a status; operations with the same codes share it. */
export function refusal(codes: ErrorCode[], refusals: Refusals): ZodOpenApiResponseObject {
  const id = nameOf(codes);
  let response = refusals.get(id);
  if (!response) {
    const { status } = catalogue[codes[0]!];
    const isTemporary = status === 429 || status === 503;
    const mayPass = codes.includes('idempotency_in_progress');
    response = {
      id,
      description: codes.map((code) => `\`${code}\`: ${catalogue[code].title}`).join('; '),
      headers: z.object({
        ...everyAnswer,
        ...(isTemporary && { 'Retry-After': retryAfter }),
        ...(mayPass && { 'Retry-After': retryAfterInProgress }),
      }),
      content: {
        'application/problem+json': {
          schema: ProblemDocument,
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    };
    refusals.set(id, response);
  }
  return response;
}

function exampleOf(code: ErrorCode): ProblemDocument {
  const { title, status, help } = catalogue[code];
  return {
    type: problemAddress(code),
    title,
    status,
    detail: code === 'validation_failed' ? 'name is required.' : help,
    ...(code === 'validation_failed' && { errors: { name: ['is required'] } }),
    requestId: 'a1b2c3',
  };
}

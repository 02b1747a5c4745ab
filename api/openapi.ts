import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiParameters,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { now } from '../shared/clock.ts';
import { config, product } from '../shared/config.ts';
import { catalogue, type ErrorCode } from '../shared/errors.ts';
import { Problem } from '../shared/schemas/problem.ts';
import { changesIn, currentVersion, knownVersions } from '../shared/versions.ts';
import type { Endpoint } from './endpoint.ts';
import { takesIdempotencyKey } from './middleware/idempotency.ts';
import { mostValues } from './middleware/json-scan.ts';
import { problemAddress } from './middleware/problems.ts';

const mebibyte = 1024 * 1024;
const versionList = knownVersions.map((version) => `- \`${version}\`: ${changesIn(version)}`).join('\n');

/** The OpenAPI 3.1 description of these operations, with examples for this time. */
export function describeApi(endpoints: readonly Endpoint[], at: Date = now()) {
  const refusals: Refusals = new Map();
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: product.name,
        version: product.version,
        summary: 'Email and SMS for a workspace, with signed webhooks and a feed of events',
        description: `Current version of the API: \`${currentVersion}\`.\n\n${versionList}`,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.PUBLIC_URL }],
      security: [{ bearer: [] }],
      paths: Object.fromEntries(
        [...byPath].map(([path, siblings]) => [
          path,
          Object.fromEntries(
            siblings.map((endpoint) => [endpoint.method, operation(endpoint, refusals, at)]),
          ),
        ]),
      ),
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, or the token of a connected app',
          },
        },
      },
    },
    { override: ({ jsonSchema, zodSchema }) => tidy(jsonSchema, zodSchema) },
  );
}

/** Says in OpenAPI's own formats what zod spells out as bounds and patterns. */
function tidy(jsonSchema: z.core.JSONSchema.BaseSchema, { _zod: { def } }: z.core.$ZodType): void {
  // zod leaves out the default of what is text in the query and something else after it.
  if (def.type === 'default' && 'defaultValue' in def) jsonSchema.default = def.defaultValue;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (def.type !== 'number' || jsonSchema.type !== 'integer' || !('format' in def) || def.format !== 'int32')
    return;
  jsonSchema.format = 'int32';
  if (jsonSchema.minimum === -(2 ** 31)) delete jsonSchema.minimum;
  if (jsonSchema.maximum === 2 ** 31 - 1) delete jsonSchema.maximum;
}

function contentOf({ takesFile, examples }: Endpoint, body: z.ZodType, at: Date) {
  const described = Object.fromEntries(
    examples.map(({ name, summary, body, file }) => {
      const value = typeof body === 'function' ? body(at) : body;
      return [name, { summary, value: file === undefined ? value : { settings: value, file } }];
    }),
  );
  if (!takesFile) return { 'application/json': { schema: body, examples: described } };
  const file = z.string().meta({ format: 'binary', description: 'The file; it comes behind settings' });
  return {
    'multipart/form-data': {
      schema: z.object({ settings: body.optional(), file }),
      encoding: { settings: { contentType: 'application/json' } },
      examples: described,
    },
  };
}

function operation(endpoint: Endpoint, refusals: Refusals, at: Date): ZodOpenApiOperationObject {
  const { id, tag, summary, description, scopes, params, query, body } = endpoint;
  const needs = `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  const requestParams: ZodOpenApiParameters = {
    ...(params && { path: params }),
    ...(query && { query }),
    header: takesIdempotencyKey(endpoint.method) ? idempotentHeaders : commonHeaders,
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: description ? `${description}\n\n${needs}` : needs,
    requestParams,
    ...(body && {
      requestBody: {
        description: `At most ${endpoint.bodyLimitBytes / mebibyte} MiB and ${endpoint.bodyLimitValues ?? mostValues} values`,
        required: !body.safeParse({}).success,
        content: contentOf(endpoint, body, at),
      },
    }),
    responses: {
      ...successes(endpoint),
      ...Object.fromEntries(
        [...Map.groupBy(problemsOf(endpoint), (code) => catalogue[code].status)].map(([status, codes]) => [
          `${status}`,
          refusal(codes, refusals),
        ]),
      ),
    },
  };
}

/** The codes that an operation can answer with: its own, and those that come with its shape. */
export function problemsOf(endpoint: Endpoint): ErrorCode[] {
  const { params, problems } = endpoint;
  const codes: ErrorCode[] = [
    // Of a parameter that it does not know, where it takes none.
    'validation_failed',
    // Any request may carry a body; it is read before the operation is asked whether it has a use for one.
    'malformed_json',
    'request_timeout',
    'payload_too_large',
    'unsupported_media_type',
    ...(params ? (['not_found'] as const) : []),
    ...(takesIdempotencyKey(endpoint.method) ? idempotencyProblems : []),
    'unsupported_version',
    'unauthenticated',
    'signature_required',
    'signature_invalid',
    'forbidden',
    'rate_limited',
    'internal_error',
    'service_unavailable',
    ...problems,
  ];
  return [...new Set(codes)].toSorted((one, other) => catalogue[one].status - catalogue[other].status);
}

const idempotencyProblems = [
  'idempotency_key_invalid',
  'idempotency_key_required',
  'idempotency_in_progress',
  'idempotency_key_reused',
] as const;

const header = (id: string, description: string, example: string) =>
  z.string().meta({ description, example, header: { id } });

const sometimes = (id: string, description: string, example: string) =>
  z.string().optional().meta({ description, example, header: { id } });

const requestId = header('RequestId', 'Your own Request-Id, or one made here', 'a1b2c3');
const version = header('ServiceVersion', 'The version of the API in force', currentVersion);
const remaining = header(
  'RateLimit',
  'What is left of each limit, and the seconds until it is whole again',
  '"default";r=399;t=1, "workspace";r=1999;t=1',
);
const policy = header(
  'RateLimitPolicy',
  'The limits: requests in a window of seconds',
  '"default";q=400;w=2, "workspace";q=2000;w=2',
);
const locationHeader = header(
  'Location',
  'The address of the new record',
  'https://messaging.example/v2/email/email_01h455vb4pex5vsknk084sn02q',
);
const retryAfter = header('RetryAfter', 'Seconds to wait', '1');
const retryAfterInProgress = sometimes('RetryAfterInProgress', 'Seconds to wait, where waiting helps', '1');
const replayed = sometimes(
  'IdempotentReplayed',
  'This is the answer that the first request with the Idempotency-Key got',
  'true',
);

const everyAnswer = { 'Request-Id': requestId };
const authenticated = {
  ...everyAnswer,
  'Service-Version': version,
  RateLimit: remaining,
  'RateLimit-Policy': policy,
};

const commonHeaders = z.object({
  'Service-Version': z
    .enum(knownVersions)
    .optional()
    .meta({
      description: 'Default: the version that the key is pinned to, else the current one',
      param: { id: 'ServiceVersion' },
    }),
  'Request-Id': z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/)
    .optional()
    .meta({ description: 'Comes back in the answer and is in every log line', param: { id: 'RequestId' } }),
});

const idempotentHeaders = commonHeaders.extend({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .regex(/^[!-~]+$/)
    .optional()
    .meta({
      description:
        'Names this request: sent again with the same key within 24 hours, it is done once and gets the first answer ' +
        'again. Required where the API key is in strict mode',
      param: { id: 'IdempotencyKey' },
    }),
});

const csvContent = {
  schema: z.string().meta({
    description:
      'The rows of data, with a header; for `Accept: text/csv`. A text that begins with = + - @ has an apostrophe before it',
  }),
};

function successes(endpoint: Endpoint): Record<string, ZodOpenApiResponseObject> {
  const { method, status, otherStatus, location, response, csv } = endpoint;
  const usual = takesIdempotencyKey(method)
    ? { ...authenticated, 'Idempotent-Replayed': replayed }
    : authenticated;
  const described: Record<string, string> = {
    [status]: { 200: 'Done', 201: 'Created', 204: 'Done; there is nothing to say' }[status],
    ...(otherStatus && { [otherStatus.status]: otherStatus.description }),
  };
  return Object.fromEntries(
    Object.entries(described).map(([code, description]) => [
      code,
      {
        description,
        headers: z.object(location && code === '201' ? { ...usual, Location: locationHeader } : usual),
        ...(response && {
          content: { 'application/json': { schema: response }, ...(csv && { 'text/csv': csvContent }) },
        }),
      },
    ]),
  );
}

type Refusals = Map<string, ZodOpenApiResponseObject>;

/** One response for all codes of a status; operations with the same codes share it. */
function refusal(codes: ErrorCode[], refusals: Refusals): ZodOpenApiResponseObject {
  const id = codes.join('-');
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
          schema: Problem,
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    };
    refusals.set(id, response);
  }
  return response;
}

function exampleOf(code: ErrorCode): Problem {
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

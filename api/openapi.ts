import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiParameters,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { config, product } from '../shared/config.ts';
import { catalogue, type ErrorCode } from '../shared/errors.ts';
import { Problem } from '../shared/schemas/problem.ts';
import { currentVersion, knownVersions } from '../shared/versions.ts';
import type { Endpoint } from './endpoint.ts';
import { problemAddress } from './middleware/problems.ts';

/** The OpenAPI 3.1 description of these operations. */
export function describeApi(endpoints: readonly Endpoint[]) {
  const refusals: Refusals = new Map();
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: product.name,
        version: product.version,
        summary: 'Email and SMS for a workspace, with signed webhooks and a feed of events',
        description: `Current version of the API: \`${currentVersion}\`.`,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.PUBLIC_URL }],
      security: [{ bearer: [] }],
      paths: Object.fromEntries(
        [...byPath].map(([path, siblings]) => [
          path,
          Object.fromEntries(siblings.map((endpoint) => [endpoint.method, operation(endpoint, refusals)])),
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

function operation(endpoint: Endpoint, refusals: Refusals): ZodOpenApiOperationObject {
  const { id, tag, summary, description, scopes, params, query, body } = endpoint;
  const needs = `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  const requestParams: ZodOpenApiParameters = {
    ...(params && { path: params }),
    ...(query && { query }),
    header: commonHeaders,
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: description ? `${description}\n\n${needs}` : needs,
    requestParams,
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: body } },
      },
    }),
    responses: {
      [`${endpoint.status}`]: success(endpoint),
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
  const { query, body, params, problems } = endpoint;
  const codes: ErrorCode[] = [
    ...(query || body ? (['validation_failed'] as const) : []),
    ...(body
      ? (['malformed_json', 'request_timeout', 'payload_too_large', 'unsupported_media_type'] as const)
      : []),
    ...(params ? (['not_found'] as const) : []),
    'unsupported_version',
    'unauthenticated',
    'forbidden',
    'rate_limited',
    'internal_error',
    'service_unavailable',
    ...problems,
  ];
  return [...new Set(codes)].toSorted((one, other) => catalogue[one].status - catalogue[other].status);
}

const header = (id: string, description: string, example: string) =>
  z.string().meta({ description, example, header: { id } });

const requestId = header('RequestId', 'Your own Request-Id, or one made here', 'a1b2c3');
const version = header('ServiceVersion', 'The version of the API in force', currentVersion);
const remaining = header(
  'RateLimit',
  'What is left of the limit, and the seconds until it is whole again',
  '"default";r=399;t=1',
);
const policy = header('RateLimitPolicy', 'The limit: requests in a window of seconds', '"default";q=400;w=2');
const location = header(
  'Location',
  'The address of the new record',
  'https://messaging.example/v2/email/email_01h455vb4pex5vsknk084sn02q',
);
const retryAfter = header('RetryAfter', 'Seconds to wait', '1');

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

function success(endpoint: Endpoint): ZodOpenApiResponseObject {
  return {
    description: { 200: 'Done', 201: 'Created', 204: 'Done; there is nothing to say' }[endpoint.status],
    headers: z.object(endpoint.location ? { ...authenticated, Location: location } : authenticated),
    ...(endpoint.response && { content: { 'application/json': { schema: endpoint.response } } }),
  };
}

type Refusals = Map<string, ZodOpenApiResponseObject>;

/** One response for all codes of a status; operations with the same codes share it. */
function refusal(codes: ErrorCode[], refusals: Refusals): ZodOpenApiResponseObject {
  const id = codes.join('-');
  let response = refusals.get(id);
  if (!response) {
    const { status } = catalogue[codes[0]!];
    const isTemporary = status === 429 || status === 503;
    response = {
      id,
      description: codes.map((code) => `\`${code}\`: ${catalogue[code].title}`).join('; '),
      headers: z.object(isTemporary ? { ...everyAnswer, 'Retry-After': retryAfter } : everyAnswer),
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

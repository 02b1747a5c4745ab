import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiParameters } from 'zod-openapi';
import { now } from '../shared/common/clock.ts';
import { catalogue } from '../shared/common/errors.ts';
import { config, product } from '../shared/config/config.ts';
import { ProblemCode } from '../shared/schemas/problem.ts';
import type { Endpoint } from './endpoint.ts';
import { takesIdempotencyKey } from './middleware/idempotency.ts';
import { commonHeaders, idempotentHeaders } from './openapi/headers.ts';
import { introduction } from './openapi/introduction.ts';
import { withOwnTimes } from './openapi/own-times.ts';
import { problemsOf, type Refusals, refusal } from './openapi/refusals.ts';
import { successes } from './openapi/successes.ts';
import { tagsOf } from './openapi/tags.ts';
import { webhookEvents } from './openapi/webhooks.ts';

export { problemsOf };

const mebibyte = 1024 * 1024;

/** The OpenAPI 3.1 description of these operations, with examples for this time. */
export function describeApi(endpoints: readonly Endpoint[], at: Date = now()) {
  const refusals: Refusals = new Map();
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: config.PRODUCT_NAME,
        version: product.version,
        summary: 'Email and SMS for a workspace, with signed webhooks and a feed of events',
        description: introduction(),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.PUBLIC_URL }],
      ...tagsOf(endpoints),
      security: [{ bearer: [] }],
      paths: Object.fromEntries(
        [...byPath].map(([path, siblings]) => [
          path,
          Object.fromEntries(
            siblings.map((endpoint) => [endpoint.method, operation(endpoint, refusals, at)]),
          ),
        ]),
      ),
      ...(endpoints.some(({ path }) => path === '/v2/webhooks') && { webhooks: webhookEvents() }),
      components: {
        schemas: { ProblemCode },
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

/**
 * Makes the same description one tag at a time, with turns for other work in between: made at once, it takes long
 * enough to hold up everybody else. Schemas that several tags use are equal in all parts.
 */
export async function describeApiInParts(endpoints: readonly Endpoint[], at: Date) {
  const whole = describeApi([], at);
  const components: Record<string, object> = { ...whole.components };
  const paths: Record<string, object> = {};
  for (const ofTag of Map.groupBy(endpoints, ({ tag }) => tag).values()) {
    await setImmediate();
    const part = describeApi(ofTag, at);
    for (const [path, item] of Object.entries(part.paths ?? {})) paths[path] = { ...paths[path], ...item };
    for (const [kind, named] of Object.entries(part.components ?? {}))
      components[kind] = { ...components[kind], ...named };
    if (part.webhooks) whole.webhooks = part.webhooks;
  }
  await setImmediate();
  return { ...whole, ...tagsOf(endpoints), paths, components };
}

/** Says in OpenAPI's own formats what zod spells out as bounds and patterns. */
function tidy(jsonSchema: z.core.JSONSchema.BaseSchema, { _zod: { def } }: z.core.$ZodType): void {
  // zod leaves out the default of a value that is text in the query and becomes another type.
  if (def.type === 'default' && 'defaultValue' in def) jsonSchema.default = def.defaultValue;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  describeNullable(jsonSchema);
  if (def.type !== 'number' || jsonSchema.type !== 'integer' || !('format' in def) || def.format !== 'int32')
    return;
  jsonSchema.format = 'int32';
  if (jsonSchema.minimum === -(2 ** 31)) delete jsonSchema.minimum;
  if (jsonSchema.maximum === 2 ** 31 - 1) delete jsonSchema.maximum;
}

/** The description of a value is that of its field, also where the field may be null. */
function describeNullable(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const [value, ...others] = (jsonSchema.anyOf ?? []).filter(({ type }) => type !== 'null');
  if (!value?.description || others.length > 0) return;
  jsonSchema.description ??= value.description;
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
      schema: z.object({
        settings: body.optional().describe('All but the rows of the file'),
        file,
      }),
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
    description: `${withOwnTimes(description)}\n\n${needs}`,
    requestParams,
    ...(body && {
      requestBody: {
        description: `At most ${endpoint.bodyLimitBytes / mebibyte} MiB and ${endpoint.bodyLimitValues} values`,
        required: endpoint.takesFile || endpoint.needsBody || !body.safeParse({}).success,
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

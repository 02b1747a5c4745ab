import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { Endpoint } from '../endpoint.ts';
import { takesIdempotencyKey } from '../middleware/idempotency.ts';
import { exampleAnswer } from './answers.ts';
import { authenticated, locationHeader, replayed } from './headers.ts';

const csvContent = {
  schema: z
    .string()
    .describe(
      'The rows of data, with a header; for `Accept: text/csv`. A text that begins with = + - @ has an apostrophe before it',
    ),
};

/** Returns the answers of an operation that succeeds. */
export function successes(endpoint: Endpoint): Record<string, ZodOpenApiResponseObject> {
  const { method, status, otherStatus, response, csv } = endpoint;
  const usual = takesIdempotencyKey(method)
    ? { ...authenticated, 'Idempotent-Replayed': replayed }
    : authenticated;
  const example = response && exampleAnswer(response);
  const described: Record<string, string> = {
    [status]: { 200: 'Done', 201: 'Created', 204: 'Done; the answer has no body' }[status],
    ...(otherStatus && { [otherStatus.status]: otherStatus.description }),
  };
  return Object.fromEntries(
    Object.entries(described).map(([code, description]) => [
      code,
      {
        description,
        headers: z.object(code === '201' ? { ...usual, Location: locationHeader } : usual),
        ...(response && {
          content: {
            'application/json': { schema: response, ...(example && { example }) },
            ...(csv && { 'text/csv': csvContent }),
          },
        }),
      },
    ]),
  );
}

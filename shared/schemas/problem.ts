import { z } from 'zod';
import { catalogue } from '../common/errors.ts';

/** Codes of problems; the `type` of a problem ends in one. */
export const ProblemCode = z.enum(Object.keys(catalogue) as [string, ...string[]]).meta({
  id: 'ProblemCode',
  description: 'The code that the `type` of a problem ends in; what is behind its last slash',
});

/** The shape of every refusal on the wire (RFC 9457). */
export const ProblemDocument = z
  .object({
    type: z.string().meta({
      format: 'uri',
      description: 'Ends in a code that never changes; the address serves a page about it',
      example: 'https://messaging.example/problems/validation_failed',
      // No field has the code by itself, so the API description lists the codes here.
      $defs: { code: { $ref: '#/components/schemas/ProblemCode' } },
    }),
    title: z.string().describe('A short fixed summary'),
    status: z.int32().describe('The HTTP status of the response'),
    detail: z.string().nullable().describe('What went wrong with this request'),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe('Field (`template.name`, `messages[3]`) -> what is wrong with it'),
    requestId: z.string().describe('The same as the header Request-Id'),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused (RFC 9457)' });
export type ProblemDocument = z.infer<typeof ProblemDocument>;

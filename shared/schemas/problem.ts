import { z } from 'zod';
import { catalogue } from '../common/errors.ts';

/** Codes of problems; the `type` of a problem ends in one. */
export const ProblemCode = z.enum(Object.keys(catalogue) as [string, ...string[]]).meta({
  id: 'ProblemCode',
  description: 'The code of a problem: the part of `type` after its last slash',
});

/** The shape of every refusal on the wire (RFC 9457). */
export const ProblemDocument = z
  .object({
    type: z.string().meta({
      format: 'uri',
      description: 'The address of a page about the problem. It ends in a code that never changes',
      example: 'https://messaging.example/problems/validation_failed',
      // No field has the code by itself, so the API description lists the codes here.
      $defs: { code: { $ref: '#/components/schemas/ProblemCode' } },
    }),
    title: z.string().describe('A short summary, the same for each problem with this code'),
    status: z.int32().describe('The HTTP status of the response'),
    detail: z.string().nullable().describe('The fault of this request, in words'),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe(
        'Faults by field: the name of a field, such as `template.name` or `messages[3]`, and what is wrong with it',
      ),
    requestId: z.string().describe('The same as the header Request-Id'),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused (RFC 9457)' });
export type ProblemDocument = z.infer<typeof ProblemDocument>;

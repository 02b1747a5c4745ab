import type { Endpoint } from '../../../api/endpoint.ts';
import { parseBody } from '../../../api/middleware/json-body.ts';
import { smallBodyBytes } from '../../../api/middleware/raw-body.ts';
import { refusalOf, validate } from '../../../api/validation.ts';
import { catalogue, Problem } from '../../../shared/common/errors.ts';
import { currentVersion } from '../../../shared/common/versions.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';

/** The part of an answer that tells how a body is refused. */
export type Refusal = { status: number; body: { type: string; errors?: Record<string, string[]> } };

/**
 * Returns the refusal of a body for its shape, by the functions that the API calls for this (api/mount.ts), at a tenth
 * of the cost of a request. Returns null if only a request can show it: the shape is right, or the body is large.
 */
export async function refusalInProcess(
  endpoint: Endpoint,
  caller: Caller,
  params: Record<string, string>,
  text: string,
): Promise<Refusal | null> {
  const bytes = Buffer.from(text);
  if (bytes.length > smallBodyBytes) return null;
  try {
    const body = parseBody(bytes, endpoint.freeForm, endpoint.bodyLimitValues);
    const input = validate(endpoint, params, '', body);
    const version = currentVersion;
    return 'errors' in input ? answerOf(await refusalOf(endpoint, { caller, version }, input)) : null;
  } catch (error) {
    if (error instanceof Problem) return answerOf(error);
    throw error;
  }
}

function answerOf({ code, options: { errors } }: Problem): Refusal {
  const type = `http://127.0.0.1/problems/${code}`;
  return { status: catalogue[code].status, body: { type, ...(errors && { errors }) } };
}

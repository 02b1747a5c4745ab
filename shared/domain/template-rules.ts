import { isDuplicateKey } from '../db/client.ts';
import { type FieldErrors, invalidFields, type Problem, problem } from '../errors.ts';

/** What email and SMS templates have in common. */

export function busy(): Problem {
  return problem('service_unavailable', {
    detail: 'Too many templates of this workspace wait to be rendered',
    retryAfterSeconds: 2,
  });
}

/** validation_failed; `wording` says on which field a fault is reported, and how. */
export function refusal<Fault>(
  faults: Fault[],
  wording: (fault: Fault) => [field: string, message: string],
): Problem {
  const errors: FieldErrors = {};
  for (const fault of faults) {
    const [field, message] = wording(fault);
    (errors[field] ??= []).push(message);
  }
  return invalidFields(errors);
}

type Placed = { message: string; include?: string | null; line?: number; column?: number };

/** What is wrong, and where in the source. */
export function sentence({ message, include = null, line, column }: Placed): string {
  const place = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
    ...(include === null ? [] : [`of the include ${include}`]),
  ];
  const list = place.join(', ').replace(', of', ' of');
  return list === '' ? message : `${message} (${list})`;
}

/** Two requests changed a template at the same time: what the second one checked is no longer what it would become. */
export function changedMeanwhile(): Problem {
  return problem('service_unavailable', {
    detail: 'The template was changed by another request at the same time',
    retryAfterSeconds: 1,
  });
}

export async function orNameTaken(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    throw isDuplicateKey(error) ? problem('name_taken') : error;
  }
}

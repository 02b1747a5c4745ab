import { type FieldErrors, invalidFields, type Problem, problem } from '../common/errors.ts';
import { Faults } from '../common/faults.ts';

/** Rules that email and SMS templates share. */

export function busy(): Problem {
  return problem('service_unavailable', {
    detail: 'Too many templates of this workspace are waiting to be rendered. Send this request again later',
    retryAfterSeconds: 2,
  });
}

/** Returns the faults by field. `wording` says on which field a fault is reported, and how. */
export function worded<Fault>(
  found: Fault[],
  wording: (fault: Fault) => [field: string, message: string],
): FieldErrors {
  const faults = new Faults();
  for (const fault of found) faults.refuse(...wording(fault));
  return faults.errors;
}

/** Returns a validation_failed problem with the faults of `worded`. */
export function refusal<Fault>(...args: Parameters<typeof worded<Fault>>): Problem {
  return invalidFields(worded(...args));
}

type Placed = { message: string; include?: string | null; line?: number; column?: number };

// Our own messages continue after the name of the field; a parser's messages say what the parser has met.
const completing = /^(is|must|has|needs|takes|renders|compiles) /;

/** Returns the fault as a sentence, with its place in the source. */
export function sentence({ message, include = null, line, column }: Placed): string {
  const whole = completing.test(message) ? message : `has a fault: ${message}`;
  const place = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
    ...(include === null ? [] : [`of the include ${include}`]),
  ];
  const list = place.join(', ').replace(', of', ' of');
  return list === '' ? whole : `${whole} (${list})`;
}

/**
 * The problem for two requests that change one template at the same time: the second would store a source that it has
 * not checked.
 */
export function changedMeanwhile(): Problem {
  return problem('service_unavailable', {
    detail: 'Another request changed the template at the same time. Send this request again',
    retryAfterSeconds: 1,
  });
}

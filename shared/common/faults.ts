import { type FieldErrors, invalidFields } from './errors.ts';

/** Notes what is wrong with a field. The message completes the field's name to a sentence: "must not be empty". */
export type Refuse = (field: string, message: string) => void;

/**
 * A request in which some fields may have the wrong shape. At any depth, such a field has no value, and such an item of
 * an array is undefined. A request without faults has this type, too.
 */
export type Usable<Value> = Value extends Date | { read: unknown }
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly (Usable<Item> | undefined)[]
    : Value extends object
      ? { readonly [Name in keyof Value]?: Usable<Value[Name]> | undefined }
      : Value;

/**
 * Whether the field has the wrong shape, or is missing although it is required. A rule that compares it with other
 * fields then reports nothing.
 */
export function isUnusable<Request extends object>(request: Request, field: keyof Request): boolean {
  return field in request && request[field] === undefined;
}

/**
 * Whether the field, or something within it, has the wrong shape, so that its value is not what the caller means. This
 * walks through the whole value.
 */
export function isPartlyUnusable<Request extends object>(request: Request, field: keyof Request): boolean {
  return field in request && isPartial(request[field]);
}

export function isPartial(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(isPartial);
}

/** Collects the faults of a request, so that all of them are reported at once. */
export class Faults {
  readonly errors: FieldErrors = {};

  readonly refuse: Refuse = (field, message) => {
    (this.errors[field] ??= []).push(message);
  };

  get areAny(): boolean {
    return Object.keys(this.errors).length > 0;
  }

  throwAny(): void {
    throwAny(this.errors);
  }
}

type Outcome = { ok: true } | { ok: false; message: string };

/** Returns a good outcome, such as a parsed number. Refuses the field for a bad one, and returns null. */
export function orRefuse<Result extends Outcome>(
  result: Result,
  field: string,
  refuse: Refuse,
): Extract<Result, { ok: true }> | null {
  if (result.ok) return result as Extract<Result, { ok: true }>;
  refuse(field, result.message);
  return null;
}

type Check<Found> = (refuse: Refuse) => Found | Promise<Found>;

/** Runs the check of a request and returns what it has found; throws all faults at once. */
export async function checked<Found>(check: Check<Found>): Promise<Found> {
  const faults = new Faults();
  const found = await check(faults.refuse);
  faults.throwAny();
  return found;
}

/** Runs the check of a request in which some fields have the wrong shape; returns the faults of the others. */
export async function faultsIn(check: Check<unknown>): Promise<FieldErrors> {
  const faults = new Faults();
  await check(faults.refuse);
  return faults.errors;
}

/** Throws validation_failed where there is a fault. */
export function throwAny(errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

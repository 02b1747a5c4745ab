import { type FieldErrors, invalidFields } from './errors.ts';

/** Notes what is wrong with a field. The message completes the field's name to a sentence: "must not be empty". */
export type Refuse = (field: string, message: string) => void;

/**
 * A request of which some fields may have no value that can be used, because their shape is wrong: they are left out, at
 * all depths, and an item of an array leaves its place empty. A whole request is one, too.
 */
export type Usable<Value> = Value extends Date | { read: unknown }
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly (Usable<Item> | undefined)[]
    : Value extends object
      ? { readonly [Name in keyof Value]?: Usable<Value[Name]> | undefined }
      : Value;

/** Whether the field has the wrong shape, or is missing and must not be: nothing can be said of how it goes with others. */
export function isUnusable<Request extends object>(request: Request, field: keyof Request): boolean {
  return field in request && request[field] === undefined;
}

/** The same, or something within it has the wrong shape: then it is not what the caller means. Looks at all of it. */
export function isPartlyUnusable<Request extends object>(request: Request, field: keyof Request): boolean {
  return field in request && isPartial(request[field]);
}

export function isPartial(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(isPartial);
}

/** Gathers what is wrong with a request, so that all of it is told at once. */
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

/** Throws validation_failed where there is a fault. */
export function throwAny(errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

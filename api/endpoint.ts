import type { z } from 'zod';
import type { ErrorCode, FieldErrors, Problem } from '../shared/common/errors.ts';
import type { Usable } from '../shared/common/faults.ts';
import type { Version } from '../shared/common/versions.ts';
import type { Caller, Scope } from '../shared/schemas/scopes.ts';
import { freeFormOf } from './free-form.ts';
import { type KnownFields, knownFieldsOf } from './known-fields.ts';
import type { Upload } from './middleware/form-body.ts';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';
type Nothing = z.ZodObject<Record<string, never>>;

export type Input<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = {
  caller: Caller;
  /** The version in force: the header's, else the key's, else the current one. */
  version: Version;
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
  /** Of an operation that takes a file. */
  upload: Upload;
};

/** A request with a field of the wrong shape. */
type UsableInput<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = {
  caller: Caller;
  params: Usable<z.output<Params>>;
  query: Usable<z.output<Query>>;
  body: Usable<z.output<Body>>;
};

type HandlerResult<Response> = Response extends z.ZodType ? z.input<Response> : void;

type OtherStatus = { status: 200 | 201 | 202; description: string };

/** A result that goes out with the operation's other status. */
export class Other<Value> {
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

export function other<Value>(value: Value): Other<Value> {
  return new Other(value);
}

/** A result that is JSON text already, such as stored events: it goes out as it is. */
export class Serialized {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

type Handled<Value> = Value | Other<Value> | Serialized;

type Ending<Value> = {
  /** The longest that `finish` takes. */
  withinMs: number;
  /**
   * Runs once the transaction has committed, in none itself; it repeats nothing that was committed. A problem that it
   * returns is the answer, as if nothing had been done, and leaves the Idempotency-Key free: it has taken back what
   * there was to take back.
   */
  finish: () => Promise<Handled<Value> | Problem>;
};

/** A committed answer, and the work that follows it while the caller waits. */
export class Unfinished<Value> {
  readonly soFar: Handled<Value>;
  readonly ending: Ending<Value>;
  constructor(soFar: Handled<Value>, ending: Ending<Value>) {
    this.soFar = soFar;
    this.ending = ending;
  }
}

/** `soFar` is the answer where there is no other: when `finish` fails, or the process ends before it does. */
export function unfinished<Value>(soFar: Handled<Value>, ending: Ending<Value>): Unfinished<Value> {
  return new Unfinished(soFar, ending);
}

type HandlerOutcome<Value> = Handled<Value> | Unfinished<Value>;

/** A body for the API description. */
export type Example<Body extends z.ZodType> = {
  name: string;
  summary: string;
  body: z.input<Body> | ((at: Date) => z.input<Body>);
  /** Of an operation that takes one. */
  file?: string;
};

/** A time for an example: the description says it anew each day, so that it lies ahead. */
export function dayAfter(at: Date): string {
  return new Date(at.getTime() + 86_400_000).toISOString();
}

type Declaration<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Response extends z.ZodType | undefined,
  Prepared,
> = {
  method: Method;
  /** `/v2/webhooks/{id}`: each name in braces is declared in `params`. */
  path: `/v2/${string}`;
  /** The operationId: unique, a verb and a noun. */
  id: string;
  tag: string;
  summary: string;
  /** Tells its users what the summary does not: the needed scopes are added in the API description. */
  description: string;
  /** All of them are needed. */
  scope: Scope | readonly Scope[];
  /** A path that does not fit is 404 not_found, never a validation error. */
  params?: Params;
  /** Strings from the URL: use the query… fields. An array field may be repeated or separated by commas. */
  query?: Query;
  body?: Body;
  /**
   * The first is the least that works. Each works as it is in the workspace that scripts/start makes, on a record of
   * that workspace where the path names one.
   */
  examples?: readonly Example<NoInfer<Body>>[];
  /** The body is the part `settings` of a form (multipart/form-data), and a part `file` comes behind it. */
  takesFile?: boolean;
  /** Fields of a related operation that must not be ignored here, and why each is refused. */
  notTaken?: Readonly<Record<string, string>>;
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** Members and items at all depths; default 50,000. */
  bodyLimitValues?: number;
  /** Where the body has LargeStrings: the names on the way there, `*` for any item. The rest is held in memory. */
  largeTexts?: readonly (readonly string[])[];
  /** Path of the record that was made; it goes out as an absolute URL with a 201. */
  location?: (result: NoInfer<HandlerResult<Response>>) => string;
  /** The rows under `data` go out as CSV to who asks for that by Accept. */
  csv?: boolean;
  /** A second way to succeed, such as 200 where the record was there already: what `handle` returns as `other(…)`. */
  otherStatus?: OtherStatus;
  /** The refusals of this operation beyond those of every operation of its shape. */
  problems: readonly ErrorCode[];
  /**
   * The faults that the rules behind the shapes find. They are asked for where the shape of some field is wrong, about
   * the other fields, so that all faults are told at once; of a request with the right shape `prepare` or `handle`
   * tells the same. It changes nothing.
   */
  faults?: (input: UsableInput<Params, Query, Body>) => FieldErrors | Promise<FieldErrors>;
  /** Slow work (rendering, hashing), done before the transaction opens. */
  prepare?: (input: Input<Params, Query, Body>) => Promise<Prepared>;
  /**
   * Takes back what `prepare` has stored, where the transaction has come to nothing, or another process has done the
   * same request meanwhile. Whether a COMMIT without an answer was done is not known here: what was committed must
   * stay.
   */
  abandon?: (input: Input<Params, Query, Body> & { prepared: Prepared }) => Promise<void>;
  /** Runs in one transaction unless the method is get, and again from the start after a deadlock. */
  handle: (
    input: Input<Params, Query, Body> & { prepared: Prepared },
  ) =>
    | Promise<HandlerOutcome<NoInfer<HandlerResult<Response>>>>
    | HandlerOutcome<NoInfer<HandlerResult<Response>>>;
} & ([Response] extends [z.ZodType]
  ? { status: 200 | 201; response: Response }
  : { status: 204; response?: Response });

/** A declaration with its types forgotten: what the router and the API description read. */
export type Endpoint = {
  readonly method: Method;
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly scopes: readonly Scope[];
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly examples: readonly Example<z.ZodType>[];
  readonly takesFile: boolean;
  readonly notTaken: Readonly<Record<string, string>>;
  readonly bodyLimitBytes: number;
  readonly bodyLimitValues?: number;
  readonly largeTexts: readonly (readonly string[])[];
  /** Where the body has objects of free form: paths as of `largeTexts`. */
  readonly freeForm: readonly (readonly string[])[];
  readonly status: 200 | 201 | 204;
  readonly response?: z.ZodType;
  readonly location?: (result: unknown) => string;
  readonly csv: boolean;
  readonly otherStatus?: OtherStatus;
  readonly problems: readonly ErrorCode[];
  /** The names that its body may have. */
  readonly knownFields: KnownFields;
  readonly faults?: (
    input: Pick<UnknownInput, 'caller' | 'params' | 'query' | 'body'>,
  ) => FieldErrors | Promise<FieldErrors>;
  readonly prepare?: (input: UnknownInput) => Promise<unknown>;
  readonly abandon?: (input: UnknownInput & { prepared: unknown }) => Promise<void>;
  readonly handle: (input: UnknownInput & { prepared: unknown }) => unknown;
};

type UnknownInput = {
  caller: Caller;
  version: Version;
  params: unknown;
  query: unknown;
  body: unknown;
  upload: Upload;
};

const defaultBodyLimitBytes = 1024 * 1024;

/** Declares one operation: its route, checks, types and documentation all come from here. */
export function endpoint<
  Params extends z.ZodObject = Nothing,
  Query extends z.ZodObject = Nothing,
  Body extends z.ZodType = z.ZodUndefined,
  Response extends z.ZodType | undefined = undefined,
  Prepared = undefined,
>(declaration: Declaration<Params, Query, Body, Response, Prepared>): Endpoint {
  const { scope, ...rest } = declaration;
  // The schemas that typed the handler also check what reaches it, so the types may be forgotten here.
  return {
    bodyLimitBytes: defaultBodyLimitBytes,
    largeTexts: [],
    examples: [],
    takesFile: false,
    notTaken: {},
    csv: false,
    freeForm: rest.body ? freeFormOf(rest.body) : [],
    knownFields: knownFieldsOf(rest.body, rest.response),
    ...rest,
    scopes: typeof scope === 'string' ? [scope] : scope,
  } as unknown as Endpoint;
}

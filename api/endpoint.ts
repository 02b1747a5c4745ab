import { z } from 'zod';
import type { ErrorCode, FieldErrors, Problem } from '../shared/common/errors.ts';
import type { Usable } from '../shared/common/faults.ts';
import type { Version } from '../shared/common/versions.ts';
import type { Caller, Scope } from '../shared/schemas/scopes.ts';
import { freeFormOf } from './free-form.ts';
import { type KnownFields, knownFieldsOf } from './known-fields.ts';
import type { Upload } from './middleware/form-body.ts';
import { mostValues } from './middleware/json-scan.ts';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';
type Route = `${Uppercase<Method>} /v2/${string}`;
type Nothing = z.ZodObject<Record<string, never>>;

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
/** `never` if a name in braces is no field of the resource, so that the compiler refuses the route. */
type Complete<OwnRoute, Fields> = NamesIn<OwnRoute> extends keyof Fields ? OwnRoute : never;
/** The fields of the resource that the route has in braces. */
type ParamsOf<OwnRoute, Fields extends z.ZodRawShape> = z.ZodObject<
  Pick<Fields, NamesIn<OwnRoute> & keyof Fields>
>;

export type Input<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = {
  caller: Caller;
  /** The version in force: the header's, else the key's, else the current one. */
  version: Version;
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
  /** The uploaded file; empty for an operation that takes none. */
  upload: Upload;
};

/** The usable part of a request in which some field has the wrong shape. */
type UsableInput<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = {
  caller: Caller;
  params: Usable<z.output<Params>>;
  query: Usable<z.output<Query>>;
  body: Usable<z.output<Body>>;
};

type HandlerResult<Response> = Response extends z.ZodType ? z.input<Response> : void;

type OtherStatus = { status: 200 | 201 | 202; description: string };

/** A result that is sent with the operation's `otherStatus`. */
export class Other<Value> {
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** A result that is JSON text already, such as stored events. The text is sent unchanged. */
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
   * Runs after the commit, outside of a transaction, and repeats nothing that was committed. If `finish` returns a
   * Problem, the Problem is the answer and the Idempotency-Key stays free, as if nothing had been done: `finish` has
   * then undone the committed work where necessary.
   */
  finish: () => Promise<Handled<Value> | Problem>;
};

/**
 * A committed answer, and the work that follows it while the caller waits. `soFar` is the answer if `finish` fails, or
 * if the process ends before `finish` does.
 */
export class Unfinished<Value> {
  readonly soFar: Handled<Value>;
  readonly ending: Ending<Value>;
  constructor(soFar: Handled<Value>, ending: Ending<Value>) {
    this.soFar = soFar;
    this.ending = ending;
  }
}

type HandlerOutcome<Value> = Handled<Value> | Unfinished<Value>;

/** A body for the API description. */
export type Example<Body extends z.ZodType> = {
  name: string;
  summary: string;
  body: z.input<Body> | ((at: Date) => z.input<Body>);
  /** The text of the file, for an operation that takes one. */
  file?: string;
};

/** Returns a time for an example. The API description is made again each day, so the time is always in the future. */
export function dayAfter(at: Date): string {
  return new Date(at.getTime() + 86_400_000).toISOString();
}

/** The properties of an operation that do not depend on the types of its input and answer. */
type Traits = {
  /** The operationId: unique, a verb and a noun. */
  id: string;
  summary: string;
  /**
   * Says more to users than the summary. The API description adds the needed scopes by itself, and the numbers of this
   * platform in the place of `{{eventDays}}` and the like.
   */
  description: string;
  /** The request is a form (multipart/form-data): the part `settings` is the body, and a part `file` follows it. */
  takesFile?: boolean;
  /** The rules refuse a body without fields. The schema cannot say so, because each single field may be left out. */
  needsBody?: boolean;
  /** Fields of a related operation that are refused here instead of ignored, each with the reason. */
  notTaken?: Readonly<Record<string, string>>;
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** The most object members and array items, at all depths together; default 50,000. */
  bodyLimitValues?: number;
  /** Paths of the LargeStrings in the body: field names, and `*` for any array item. All else is held in memory. */
  largeTexts?: readonly (readonly string[])[];
  /** A caller that asks for CSV with the Accept header gets the rows under `data` as CSV. */
  csv?: boolean;
  /** Error codes of this operation, besides those of every operation of its shape. */
  problems?: readonly ErrorCode[];
};

type Declaration<
  OwnRoute extends Route,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Response extends z.ZodType | undefined,
  Prepared,
> = Traits & {
  /** `GET /v2/webhooks/{id}`: each name in braces is a field of the resource. */
  route: OwnRoute;
  /** The caller needs all of these scopes. */
  scope: Scope | readonly Scope[];
  /** Query parameters are strings: use the `query…` fields. An array may be repeated parameters, or one with commas. */
  query?: Query;
  body?: Body;
  /**
   * The first example has the fewest fields that work. Each example works unchanged in the workspace that
   * scripts/start makes; where the path names a record, on a record of that workspace.
   */
  examples?: readonly Example<NoInfer<Body>>[];
  /**
   * Returns the path of the new record; a 201 answer sends it as an absolute URL. Default: the path of `route`, `/` and
   * the id.
   */
  location?: (result: NoInfer<HandlerResult<Response>>) => string;
  /** A second success status, such as 200 if the record existed already. `handle` chooses it with `new Other(…)`. */
  otherStatus?: OtherStatus;
  /**
   * Returns the faults that the business rules find, and changes nothing. Runs only if some field has the wrong shape:
   * it checks the other fields, so that the caller gets all faults in one answer. For a request of the right shape
   * `prepare` or `handle` reports the same faults.
   */
  faults?: (input: UsableInput<Params, Query, Body>) => FieldErrors | Promise<FieldErrors>;
  /** Slow work (rendering, hashing), done before the transaction opens. */
  prepare?: (input: Input<Params, Query, Body>) => Promise<Prepared>;
  /**
   * Undoes what `prepare` has stored, if the transaction failed, or if another process has done the same request
   * meanwhile. After a COMMIT without an answer it is not known whether the commit happened, so `abandon` must keep
   * what was committed.
   */
  abandon?: (input: Input<Params, Query, Body> & { prepared: Prepared }) => Promise<void>;
  /** Runs in one transaction unless the method is get, and again from the start after a deadlock. */
  handle: (
    input: Input<Params, Query, Body> & { prepared: Prepared },
  ) =>
    | Promise<HandlerOutcome<NoInfer<HandlerResult<Response>>>>
    | HandlerOutcome<NoInfer<HandlerResult<Response>>>;
} & ([Response] extends [z.ZodType]
    ? // Default 200.
      { status?: 200 | 201; response: Response }
    : { status?: 204; response?: Response });

/** A declaration without its type parameters, for the router and the API description. */
export type Endpoint = Readonly<Required<Traits>> & {
  readonly method: Method;
  readonly path: `/v2/${string}`;
  readonly tag: string;
  readonly scopes: readonly Scope[];
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly examples: readonly Example<z.ZodType>[];
  /** Paths of the free-form JSON objects in the body, in the form of `largeTexts`. */
  readonly freeForm: readonly (readonly string[])[];
  readonly status: 200 | 201 | 204;
  readonly response?: z.ZodType;
  readonly location: (result: unknown) => string;
  readonly otherStatus?: OtherStatus;
  /** The field names that the body may have. */
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

const noFields = {};

/**
 * Declares a resource. The function that it returns declares one operation of the resource: its route, checks, types
 * and documentation all come from this declaration. `tag`: the heading in the API description. `fields`: the names in
 * braces in the routes. A value of the wrong form is answered with 404 not_found; only a PUT gets a validation error.
 */
export function resource<Fields extends z.ZodRawShape = typeof noFields>(tag: string, fields?: Fields) {
  return <
    OwnRoute extends Route,
    Query extends z.ZodObject = Nothing,
    Body extends z.ZodType = z.ZodUndefined,
    Response extends z.ZodType | undefined = undefined,
    Prepared = undefined,
  >(
    declaration: Declaration<
      Complete<OwnRoute, Fields>,
      ParamsOf<OwnRoute, Fields>,
      Query,
      Body,
      Response,
      Prepared
    >,
  ): Endpoint => {
    const { route, scope, ...rest } = declaration;
    const [method, path] = route.split(' ') as [string, string];
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]);
    // The schemas that type the handler also check its input at run time, so the types may be dropped here.
    return {
      method: method.toLowerCase(),
      path,
      tag,
      ...(names.length > 0 && { params: z.object(fields ?? noFields).pick(Object.fromEntries(names)) }),
      status: rest.response ? 200 : 204,
      location: (record: { id: string }) => `${path}/${record.id}`,
      problems: [],
      bodyLimitBytes: 1024 * 1024,
      bodyLimitValues: mostValues,
      largeTexts: [],
      examples: [],
      takesFile: false,
      needsBody: false,
      notTaken: {},
      csv: false,
      freeForm: rest.body ? freeFormOf(rest.body) : [],
      knownFields: knownFieldsOf(rest.body, rest.response),
      ...rest,
      scopes: typeof scope === 'string' ? [scope] : scope,
    } as unknown as Endpoint;
  };
}

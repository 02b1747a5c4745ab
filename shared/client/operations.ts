import type { components, paths } from './description.d.ts';

/** The values that the API takes and gives, by name: `Schema<'Email'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
/** One event, as the feed and webhooks have it; its `type` says what `data` is. */
export type Event = Schema<'Event'>;

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have an operation of this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends object ? P : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;

type Parameters<O, Place extends string> = O extends { parameters: { [Name in Place]?: infer Given } }
  ? Exclude<Given, undefined>
  : never;

type Content<O> = O extends { requestBody?: infer Body }
  ? NonNullable<Body> extends { content: infer Given }
    ? Given
    : never
  : never;
type Body<O> = Content<O> extends { 'application/json': infer Json } ? Json : FormData;

/** A group of parameters: absent if it is empty, optional if all its members are optional. */
type Member<Name extends string, Value, IsOptional> = [Value] extends [never]
  ? unknown
  : IsOptional extends true
    ? { [N in Name]?: Value }
    : { [N in Name]: Value };
type MayBeLeftOut<Value> = Partial<Value> extends Value ? true : false;

export type Options = {
  /** Names this request, so that it is done once however often it is sent; without it each call makes its own. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  /** Gives the request up, the wait for its next try included. */
  signal?: AbortSignal;
};

/** The input of an operation: the parameters of its path and its query, and its body. */
export type Input<P extends keyof paths, M extends Method> = Options &
  Member<'path', Parameters<Operation<P, M>, 'path'>, false> &
  Member<'query', Parameters<Operation<P, M>, 'query'>, MayBeLeftOut<Parameters<Operation<P, M>, 'query'>>> &
  ([Content<Operation<P, M>>] extends [never]
    ? unknown
    : Member<'body', Body<Operation<P, M>>, Operation<P, M> extends { requestBody: object } ? false : true>);

/** Left out where the operation needs nothing. */
export type Given<T> = Partial<T> extends T ? [input?: T] : [input: T];

type Answer<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;

/** The answer of an operation that is done: undefined where it answers with nothing. */
export type Output<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer Responses } ? Answer<Responses[keyof Responses]> : never;

type ItemOf<Page> = Page extends { data: (infer Item)[]; nextCursor: string | null } ? Item : never;
/** One item of a listing. */
export type Item<P extends PathOf<'get'>> = ItemOf<Output<P, 'get'>>;
/** The listings. The feed of events has no end, so it is followed and not listed. */
export type ListPath = {
  [P in PathOf<'get'>]: [Item<P>] extends [never] ? never : P;
}[Exclude<PathOf<'get'>, '/v2/events'>];

export type EventPage = Output<'/v2/events', 'get'>;
export type EventQuery = Parameters<Operation<'/v2/events', 'get'>, 'query'>;

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  EventPage,
  EventQuery,
  Given,
  Input,
  Item,
  ListPath,
  Method,
  Options,
  Output,
  PathOf,
} from './operations.ts';
import type { Refusal } from './refusal.ts';
import { type Patience, send } from './send.ts';

export type Settings = Partial<Patience> & {
  /** Address of the service, such as https://messaging.example. */
  baseUrl: string;
  /** An API key, or the token of a connected app. */
  apiKey: string;
  /** The version of the API that this program was written for; without it, the one that the key is pinned to. */
  serviceVersion?: string;
};

type AnyInput = Options & {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
};

/** The pause between two looks at a feed that has nothing new. */
const usualPollSeconds = 5;

export type Client = ReturnType<typeof createClient>;

/**
 * The operations of the API, by the paths of its reference:
 *
 *     const api = createClient({ baseUrl: 'https://messaging.example', apiKey: 'msg_…' });
 *     const email = await api.post('/v2/email', { body: { sender, recipient, subject, content: { text } } });
 *     const same = await api.get('/v2/email/{id}', { path: { id: email.id } });
 *     for await (const contact of api.list('/v2/contacts', { query: { tag: 'vip' } })) console.log(contact.email);
 */
export function createClient({ baseUrl, apiKey, serviceVersion, ...patience }: Settings) {
  const usual: Patience = { tries: 5, timeoutSeconds: 60, longestWaitSeconds: 60, ...patience };
  // An address may have a path, behind a proxy that gives it one.
  const base = baseUrl.replace(/\/+$/, '');

  async function call(method: Method, path: string, input: AnyInput = {}): Promise<unknown> {
    const { body, signal } = input;
    // Serialised once: a form that fetch serialises has a new boundary in each try, so other bytes under the same key.
    const form = body instanceof FormData ? new Response(body) : null;
    const type = form ? form.headers.get('content-type') : body === undefined ? null : 'application/json';
    const text = await send(
      {
        method: method.toUpperCase(),
        url: new URL(base + addressOf(path, input)),
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${apiKey}`,
          ...(serviceVersion === undefined ? {} : { 'service-version': serviceVersion }),
          ...(type === null ? {} : { 'content-type': type }),
          // Each try has the same, so that a request takes effect once.
          ...(takesKey.has(method) ? { 'idempotency-key': input.idempotencyKey ?? randomUUID() } : {}),
          ...input.headers,
        },
        ...(body === undefined ? {} : { body: form ? await form.arrayBuffer() : JSON.stringify(body) }),
        signal,
      },
      usual,
      method === 'delete' ? (refusal) => answerBefore(refusal, path, input) : undefined,
    );
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The answer of a DELETE that a try before has done, as the refusal of this one shows; undefined where it does not. */
  async function answerBefore({ status, code }: Refusal, path: string, input: AnyInput) {
    // A deleted record is gone. A cancelled one is still there, and so is a list that members were taken from.
    if (!cancels.has(path)) return status === 404 && path.endsWith('}') ? '' : undefined;
    if (code !== 'not_cancellable') return undefined;
    // Without the scope to read it the refusal stands.
    const record = (await call('get', path, input).catch(() => null)) as { status: string } | null;
    return record?.status === 'cancelled' ? JSON.stringify(record) : undefined;
  }

  /** One method of HTTP on any path that has it. */
  function by<M extends Method>(method: M) {
    return <P extends PathOf<M>>(path: P, ...[input]: Given<Input<P, M>>) =>
      call(method, path, input) as Promise<Output<P, M>>;
  }

  /** All items of a listing, page by page as they are asked for. */
  async function* list<P extends ListPath>(
    path: P,
    ...[input]: Given<Input<P, 'get'>>
  ): AsyncGenerator<Item<P>, void, undefined> {
    const given: AnyInput = input ?? {};
    let cursor: string | null | undefined = given.query?.['cursor'] as string | undefined;
    do {
      const page = (await call('get', path, {
        ...given,
        query: { ...given.query, ...(cursor ? { cursor } : {}) },
      })) as { data: Item<P>[]; nextCursor: string | null };
      yield* page.data;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /**
   * The feed of events, page by page and without an end: after the newest event it waits. Keep `nextCursor` together with what
   * the page made you do, and begin with it after a restart. `signal` ends it, without an error.
   */
  async function* follow(
    query: EventQuery = {},
    { pollSeconds = usualPollSeconds, signal }: { pollSeconds?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<EventPage, void, undefined> {
    let from: EventQuery = query;
    try {
      while (!signal?.aborted) {
        const page = (await call('get', '/v2/events', {
          query: from,
          ...(signal && { signal }),
        })) as EventPage;
        if (page.data.length > 0) yield page;
        // Behind an empty page there may be more: a filter may leave out many events in a row.
        else if (!page.hasMore) await sleep(pollSeconds * 1000, undefined, signal ? { signal } : {});
        from = { ...query, cursor: page.nextCursor };
      }
    } catch (error) {
      // A signal interrupts a request or a pause by an error.
      if (!signal?.aborted) throw error;
    }
  }

  return {
    get: by('get'),
    post: by('post'),
    put: by('put'),
    patch: by('patch'),
    delete: by('delete'),
    list,
    follow,
  };
}

const cancels: ReadonlySet<string> = new Set<PathOf<'delete'>>([
  '/v2/email/{id}',
  '/v2/sms/{id}',
  '/v2/sms/batches/{id}',
]);
const takesKey: ReadonlySet<Method> = new Set<Method>(['post', 'patch']);

/** The path with its parameters in it, and the query behind it. */
function addressOf(path: string, { path: named = {}, query = {} }: AnyInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = named[name];
    // Without this a listing would be asked for, or another path.
    if (value === undefined || value === '') throw new TypeError(`${path} needs path.${name}`);
    // A URL drops these segments, so that another operation would be asked for.
    if (value === '.' || value === '..') throw new TypeError(`path.${name} of ${path} cannot be ${value}`);
    return encodeURIComponent(value);
  });
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const search = new URLSearchParams(
    given.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)])),
  ).toString();
  return search ? `${filled}?${search}` : filled;
}

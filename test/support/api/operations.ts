import type { Endpoint } from '../../../api/endpoint.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { now } from '../../../shared/common/clock.ts';
import { type IdPrefix, idPrefixes, newId } from '../../../shared/formats/ids.ts';
import { bodies, files, makers, type Own, parameters, queries, type Within } from '../data/records.ts';
import { descriptionOf, type Schema } from './description.ts';
import { exampleOf, variantsOf } from './fields.ts';
import { importForm } from './form.ts';
import type { Answer, Client } from './start-api.ts';

export const description = descriptionOf(endpoints);

/** Every operation. A test that goes over this list also covers new operations without naming them. */
export const operations = endpoints.map((endpoint) => ({
  name: `${endpoint.method.toUpperCase()} ${endpoint.path}`,
  endpoint,
}));

/** The parts that a call of an operation needs beside a key. */
export type Call = { params: Params; query?: string; body?: object };
export type Params = Record<string, string>;

export type Parameter = { name: string; schema: Schema; prefix: IdPrefix | null };

export function parametersOf(endpoint: Endpoint, place: 'path' | 'query'): Parameter[] {
  const all: Schema[] = (description.operation(endpoint)['parameters'] ?? []).map(description.resolve);
  return all
    .filter((parameter) => parameter['in'] === place)
    .map(({ name, schema }) => ({ name, schema, prefix: prefixOf(schema) }));
}

/**
 * Returns the prefix of a field's ids: from its pattern, or from its example where the field takes any text and ignores
 * an unknown id.
 */
export function prefixOf(schema: Schema): IdPrefix | null {
  const [only] = variantsOf(description.resolve, schema);
  const shape = String(only?.['pattern'] ?? only?.['example']);
  const [, prefix] = /^\^?([a-z]+)_(?:\[0-7\]|[0-7][0-9a-hjkmnp-tv-z]{25}$)/.exec(shape) ?? [];
  return idPrefixes.find((known) => known === prefix) ?? null;
}

/** Returns the schema of the JSON body, or of a form's settings. */
export function bodySchemaOf(endpoint: Endpoint): Schema | undefined {
  const content = description.operation(endpoint)['requestBody']?.content;
  return endpoint.takesFile
    ? content['multipart/form-data'].schema.properties.settings
    : content?.['application/json'].schema;
}

/** Returns the statuses with which the operation succeeds; some operations have several. */
export function successesOf(endpoint: Endpoint): number[] {
  const statuses = Object.keys(description.operation(endpoint)['responses']).map(Number);
  return statuses.filter((status) => status < 300);
}

export function answerSchemaOf(endpoint: Endpoint): Schema | undefined {
  const { content } = description.resolve(description.operation(endpoint)['responses'][endpoint.status]);
  return content?.['application/json'].schema;
}

/** Prepares a call that the operation accepts, on records of this workspace made for the call, or on the given ones. */
export async function callOn(api: Client, own: Own, endpoint: Endpoint, given?: Params): Promise<Call> {
  const params = { ...(given ?? (await parameters[endpoint.id]?.(api, own))) };
  const within: Within = {};
  for (const { name, prefix } of parametersOf(endpoint, 'path')) {
    params[name] ??= await makerOf(prefix, `${endpoint.id}, for {${name}}`)(api, own, within);
    if (prefix) within[prefix] = params[name];
  }
  const query = queries[endpoint.id];
  return { params, ...(query !== undefined && { query }), ...(await bodyFor(own, endpoint)) };
}

/** Returns ids that no record has, for a call that is refused before the record is looked up. */
export function paramsOfNobody(endpoint: Endpoint): Params {
  return Object.fromEntries(
    parametersOf(endpoint, 'path').map(({ name, prefix }) => [name, prefix ? newId(prefix, now()) : 'x']),
  );
}

/** Returns the body from test/support/data/records.ts, else the example of the description. */
export async function bodyFor(own: Own, endpoint: Endpoint): Promise<{ body?: object }> {
  const schema = bodySchemaOf(endpoint);
  if (!schema) return {};
  return { body: (await bodies[endpoint.id]?.(own)) ?? exampleOf(description.resolve, schema) };
}

export function makerOf(prefix: IdPrefix | null, purpose: string) {
  const maker = prefix && makers[prefix];
  if (!maker) throw new Error(`test/support/data/records.ts lacks what it takes for ${purpose}`);
  return maker;
}

/** Sends the call. A body that is text is sent unchanged; parameters of the path must be encoded already. */
export function ask(
  api: Client,
  { id, method, path, takesFile }: Endpoint,
  { params, query = '', body }: { params: Params; query?: string; body?: object | string },
  key?: string,
): Promise<Answer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name]!);
  return api.request(method.toUpperCase(), query ? `${filled}?${query}` : filled, {
    ...(key !== undefined && { key }),
    ...(body !== undefined && (takesFile ? importForm(body, files[id]!) : { body })),
  });
}

/** Deletes the record in an answer's Location, so that a test's many calls do not reach the limits of a workspace. */
export async function undo(api: Client, { key }: Own, { headers }: Answer): Promise<void> {
  const path = new URL(headers['location'] ?? api.url).pathname;
  const isDeletable = endpoints.some(
    (endpoint) =>
      endpoint.method === 'delete' &&
      new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  if (isDeletable) await api.request('DELETE', path, { key });
}

import type { Endpoint } from '../../../api/endpoint.ts';
import { problemsOf } from '../../../api/openapi.ts';
import { catalogue, type ErrorCode } from '../../../shared/common/errors.ts';
import { config } from '../../../shared/config/config.ts';
import { type Description, descriptionOf, type Schema } from './description.ts';

/** A request and its answer. `path` includes the query, as it was sent; header names are in lower case. */
export type Exchange = {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: any;
};

/** Codes of refusals that come, or may come, before the version is known. */
const beforeVersion = new Set<ErrorCode>([
  'unauthenticated',
  'forbidden',
  'unsupported_version',
  'rate_limited',
  'internal_error',
  'service_unavailable',
]);
/** Codes of refusals that come, or may come, before the caller is known: too many wrong keys are limited too. */
const beforeCaller = new Set<ErrorCode>([
  'unauthenticated',
  'rate_limited',
  'internal_error',
  'service_unavailable',
]);

/**
 * Checks answers of these operations against the API description and the problems that each operation names. The
 * description is made when it is first needed: most clients ask little, some never ask for /v2.
 */
export function contractOf(endpoints: readonly Endpoint[]) {
  const patterns = [...new Set(endpoints.map(({ path }) => path))]
    // If a name and a parameter match the same path, the name counts.
    .toSorted((one, other) => one.split('{').length - other.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));
  const isLimited = config.RATE_LIMIT_PER_SECOND > 0 || config.WORKSPACE_RATE_LIMIT_PER_SECOND > 0;
  let description: Description | undefined;

  /** Returns the faults of an answer on the paths of /v2, by the description. Other paths have no faults. */
  function faultsOf(exchange: Exchange): string[] {
    const [path] = exchange.path.split('?') as [string];
    if (!/^\/v2(\/|$)/.test(path)) return [];
    const place = isDecodable(path) ? patterns.find(({ pattern }) => pattern.test(path))?.path : undefined;
    const siblings = endpoints.filter((endpoint) => endpoint.path === place);
    const method = exchange.method === 'HEAD' ? 'get' : exchange.method.toLowerCase();
    const endpoint = siblings.find((sibling) => sibling.method === method);
    const faults = generalFaults(exchange);
    if (endpoint) {
      description ??= descriptionOf(endpoints);
      return [...faults, ...operationFaults(description, endpoint, exchange, isLimited)];
    }
    return [...faults, ...otherFaults(exchange, siblings)];
  }

  return { faultsOf };
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

function generalFaults({ method, status, headers, body }: Exchange): string[] {
  const faults: string[] = [];
  if (!headers['request-id']) faults.push('there is no Request-Id');
  if (headers['cache-control'] !== 'no-store') faults.push('it may be cached');
  if (status < 400 || method === 'HEAD') return faults;
  const code = codeOf(body);
  if (headers['content-type'] !== 'application/problem+json')
    faults.push('the refusal is no problem document');
  else if (!code) faults.push(`no problem of the catalogue has the type ${body.type}`);
  else {
    const { title, status: due } = catalogue[code];
    if (body.status !== status || due !== status) faults.push(`${code} has the status ${due}`);
    if (body.title !== title) faults.push(`the title of ${code} is: ${title}`);
    if (body.requestId !== headers['request-id']) faults.push('requestId is not the Request-Id');
    faults.push(...mannersOf(body));
    const saysWhen = status === 429 || status === 503 || code === 'idempotency_in_progress';
    if (saysWhen && !/^[1-9]\d*$/.test(headers['retry-after'] ?? ''))
      faults.push('there is no Retry-After in whole seconds');
  }
  return faults;
}

/** The beginnings of a message, which follows the name of its field and makes a sentence with it. */
const verbs =
  /^(is|must|has|have|cannot|needs|goes|may|takes|renders|names|does|would|was|ends|includes|contains|makes|compiles|with|can) /;

/** Returns the faults in the wording of a problem (API decisions §1). */
function mannersOf({ detail, errors }: { detail: string; errors?: Record<string, string[]> }): string[] {
  const faults: string[] = [];
  if (!/\S[.?!]$/.test(detail)) faults.push(`the detail is no whole sentence: ${detail}`);
  if (!errors) return faults;
  const [[field, [first]]] = Object.entries(errors) as [[string, [string]]];
  if (detail.replace(/\.$/, '') !== `${field} ${first}`.replace(/\.$/, ''))
    faults.push(`the detail is not made of the first fault: ${detail}`);
  for (const [name, messages] of Object.entries(errors))
    for (const message of messages)
      if (!verbs.test(message) || /[.]$/.test(message))
        faults.push(`the message does not complete its field: ${name} ${message}`);
  return faults;
}

/** Returns the faults of an answer on a path that no operation has, or that none has with this method. */
function otherFaults({ method, status, headers, body }: Exchange, siblings: Endpoint[]): string[] {
  if (siblings.length === 0)
    return status === 404 ? [] : [`no operation has this path, and the status is not 404`];
  const methods = siblings.flatMap((sibling) =>
    sibling.method === 'get' ? ['get', 'head'] : sibling.method,
  );
  // The path has a name in the place of an id, and no id can look like this name.
  if (status === 404 && siblings.some(({ params }) => params)) return [];
  const allowed = (headers['allow'] ?? '').toLowerCase().split(', ');
  const isRefused = status === 405 && (method === 'HEAD' || codeOf(body) === 'method_not_allowed');
  if (!isRefused) return [`${method} is not refused with 405`];
  return allowed.toSorted().join() === methods.toSorted().join()
    ? []
    : [`Allow does not list ${methods.join(', ')}`];
}

function operationFaults(
  { operation, resolve, faultsOfReceived }: Description,
  endpoint: Endpoint,
  { method, status, headers, body }: Exchange,
  isLimited: boolean,
): string[] {
  const described = operation(endpoint)['responses'][status];
  if (!described) return [`${endpoint.id} documents no ${status}`];
  const response = resolve(described);
  const faults: string[] = [];
  const code = status < 400 ? undefined : codeOf(body);
  if (code && !problemsOf(endpoint).includes(code)) faults.push(`${endpoint.id} does not document ${code}`);

  const headersOf = Object.entries<Schema>(response['headers']);
  const needed = new Set(headersOf.filter(([, one]) => resolve(one)['required']).map(([name]) => name));
  const isHead = method === 'HEAD';
  // The answer to HEAD has no body, so its code is unknown.
  if (!isHead || status < 400) {
    if (!code || !beforeVersion.has(code)) needed.add('Service-Version');
    if (!code || !beforeCaller.has(code)) for (const name of limitHeaders) needed.add(name);
  }
  if (!isLimited) for (const name of limitHeaders) needed.delete(name);
  if (status === 201) needed.add('Location');
  for (const name of needed) if (!headers[name.toLowerCase()]) faults.push(`there is no ${name}`);
  const location = headers['location'];
  if (location !== undefined && !URL.canParse(location)) faults.push('Location is not absolute');

  const content = Object.entries<Schema>(response['content'] ?? {});
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (content.length === 0 && (body !== '' || type !== '')) faults.push('there is a body, or its type');
  if (isHead) return faults;
  const media = content.find(([name]) => name === type);
  if (media) faults.push(...faultsOfReceived(media[1]['schema'], body));
  else if (content.length > 0) faults.push(`the type of the body is ${type}`);
  return faults;
}

const limitHeaders = ['RateLimit', 'RateLimit-Policy'];

/** Returns the code at the end of a problem document's type, if the code is in our catalogue. */
export function codeOf(body: any): ErrorCode | undefined {
  const [, code] = /^https?:\/\/[^/]+\/problems\/(\w+)$/.exec(String(body?.type)) ?? [];
  return code !== undefined && Object.hasOwn(catalogue, code) ? (code as ErrorCode) : undefined;
}

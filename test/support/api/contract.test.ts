import { expect, test } from 'vitest';
import { catalogue, type ErrorCode } from '../../../shared/common/errors.ts';
import { config } from '../../../shared/config/config.ts';
import { knownId, startSmallApi } from '../../api/endpoint/small-api.ts';
import { changeSettings } from '../processes/settings.ts';
import { startWebhookReceiver } from '../servers/webhook-receiver.ts';
import { clientOf } from './api-client.ts';
import { contractOf, type Exchange } from './contract.ts';

const api = await startSmallApi();
const { faultsOf } = contractOf(api.endpoints);

async function exchange(method: string, path: string, more: object = {}): Promise<Exchange> {
  const { status, headers, body } = await api.call(method, path, more);
  return { method, path, status, headers, body };
}

const made = () => exchange('POST', '/v2/parcels', { body: { name: 'a', weightGrams: 1 } });
const read = () => exchange('GET', `/v2/parcels/${knownId}`);
const removed = () => exchange('DELETE', `/v2/parcels/${knownId}`);
const refused = () => exchange('POST', '/v2/parcels', { body: {} });
const unknown = () => exchange('GET', '/v2/nowhere');
const notAllowed = () => exchange('PUT', '/v2/parcels');

const problem = (code: ErrorCode, { headers }: Exchange) => ({
  type: `http://127.0.0.1/problems/${code}`,
  title: catalogue[code].title,
  status: catalogue[code].status,
  detail: null,
  requestId: headers['request-id'],
});
const without = (record: Record<string, any>, name: string) => {
  const { [name]: _, ...rest } = record;
  return rest;
};

test.each([made, read, removed, refused, unknown, notAllowed])(
  'an answer as described passes: %o',
  async (call) => expect(faultsOf(await call())).toEqual([]),
);

type Alter = (answer: Exchange) => Partial<Exchange>;
const header =
  (name: string, value?: string): Alter =>
  ({ headers }) => ({
    headers: value === undefined ? without(headers, name) : { ...headers, [name]: value },
  });

test.each<[string, () => Promise<Exchange>, Alter]>([
  ['a field that is missing', read, ({ body }) => ({ body: without(body, 'id') })],
  ['a field that is not described', read, ({ body }) => ({ body: { ...body, workspaceId: 'x' } })],
  ['a field of another type', read, ({ body }) => ({ body: { ...body, id: 1 } })],
  ['another success than described', read, () => ({ status: 201 })],
  ['another media type', read, header('content-type', 'text/html')],
  ['no media type', read, header('content-type')],
  ['no Request-Id', read, header('request-id')],
  ['no Service-Version', read, header('service-version')],
  ['an answer that may be cached', read, header('cache-control')],
  ['no Location at a 201', made, header('location')],
  ['a Location that is a path', made, header('location', '/v2/parcels/x')],
  ['a body at a 204', removed, () => ({ body: 'x' })],
  ['a status that is not described', read, (answer) => ({ status: 409, body: problem('in_use', answer) })],
  [
    'a code that is not described',
    read,
    (answer) => ({
      status: 400,
      body: problem('validation_failed', answer),
      headers: { ...answer.headers, 'content-type': 'application/problem+json' },
    }),
  ],
  [
    'a code of another status',
    refused,
    (answer) => ({ body: { ...problem('not_found', answer), status: 400 } }),
  ],
  [
    'a code that is not in the catalogue',
    refused,
    ({ body }) => ({ body: { ...body, type: `${api.url}/problems/x` } }),
  ],
  ['a title that is not the code’s', refused, ({ body }) => ({ body: { ...body, title: 'Oh' } })],
  [
    'a status in the problem that is not the answer’s',
    refused,
    ({ body }) => ({ body: { ...body, status: 401 } }),
  ],
  ['another requestId than in the header', refused, ({ body }) => ({ body: { ...body, requestId: 'x' } })],
  ['a member that no problem has', refused, ({ body }) => ({ body: { ...body, stack: 'x' } })],
  ['a refusal that is no problem document', refused, header('content-type', 'application/json')],
  [
    'no Retry-After at a 503',
    refused,
    (answer) => ({ status: 503, body: problem('service_unavailable', answer) }),
  ],
  [
    'a Retry-After that is no number',
    refused,
    (answer) => ({
      status: 503,
      body: problem('service_unavailable', answer),
      headers: { ...answer.headers, 'retry-after': 'soon' },
    }),
  ],
  ['a success on an unknown path', unknown, () => ({ status: 200 })],
  ['a 404 for a method', notAllowed, (answer) => ({ status: 404, body: problem('not_found', answer) })],
  ['an Allow that lacks a method', notAllowed, header('allow', 'GET, HEAD')],
])('%s is found', async (_name, call, alter) => {
  const answer = await call();
  expect(faultsOf({ ...answer, ...alter(answer) })).not.toEqual([]);
});

test('the limits are demanded of every answer to a caller, where there are limits', async () => {
  const perSecond = config.RATE_LIMIT_PER_SECOND;
  changeSettings({ RATE_LIMIT_PER_SECOND: 100 });
  const limited = contractOf(api.endpoints);
  changeSettings({ RATE_LIMIT_PER_SECOND: perSecond });
  expect(limited.faultsOf(await read())).toEqual(['there is no RateLimit', 'there is no RateLimit-Policy']);
  expect(limited.faultsOf(await refused())).toEqual([
    'there is no RateLimit',
    'there is no RateLimit-Policy',
  ]);
  expect(limited.faultsOf(await exchange('GET', '/v2/parcels', { key: null }))).toEqual([]);
});

// Shows A49
test('the test that gets an answer which is not as described fails', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 200, body: '{}' } });
  const client = clientOf(new URL(receiver.url).origin);
  await expect(client.request('GET', '/v2/webhooks')).rejects.toThrow('there is no Request-Id');
  expect((await client.request('GET', '/elsewhere')).status).toBe(200);
});

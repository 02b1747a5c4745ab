import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { z } from 'zod';
import { createApp } from '../../../api/app.ts';
import { resource } from '../../../api/endpoint.ts';
import { createHttpServer } from '../../../api/http-server.ts';
import { problem } from '../../../shared/common/errors.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { Id, JsonObject, Moment, pageQuery, text } from '../../../shared/schemas/fields.ts';
import type { Caller, Scope } from '../../../shared/schemas/scopes.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';

type Call = { body?: unknown; headers?: Record<string, string>; key?: string | null };

export const knownId = newId('contact', new Date());
export const goodKey = 'msg_good';
/** Has 200 characters together with the `Bearer ` before it. */
export const longestKey = `msg_${'x'.repeat(189)}`;

const scopes: ReadonlySet<Scope> = new Set(['contacts.read', 'contacts.write']);
const callers = new Map<string, Caller>(
  (
    [
      [goodKey, scopes, null],
      ['msg_reader', new Set(['contacts.read']), null],
      ['msg_pinned', scopes, '2026-11-01'],
      ['msg_outdated', scopes, '2019-01-01'],
      [longestKey, scopes, null],
      [`${longestKey}x`, scopes, null],
    ] as [string, ReadonlySet<Scope>, string | null][]
  ).map(([key, held, apiVersion]) => [
    key,
    {
      workspaceId: 'workspace',
      keyId: key,
      lineageId: key,
      kind: 'api_key',
      scopes: held,
      apiVersion,
      strictMode: false,
      signing: null,
    },
  ]),
);

const known = callers.get(goodKey)!;
const secret = createSecretKey(Buffer.from('sig_secret'));
/** Requests with this key need not be signed, but a signature that is sent is checked. */
export const signingKey = 'msg_signing';
callers.set(signingKey, {
  ...known,
  keyId: signingKey,
  lineageId: signingKey,
  signing: { algorithm: 'hmac_sha256', keys: [{ key: secret, until: null }] },
});

const NewParcel = z.object({
  name: text({ min: 1, max: 10 }),
  weightGrams: z.int32().min(1),
  note: text({ max: 100, multiline: true }).nullish(),
  address: z.object({ city: text({ max: 20 }) }).optional(),
  tags: z.array(z.string()).max(3).optional(),
  rows: z
    .array(z.object({ email: z.email() }))
    .max(5)
    .optional(),
  kind: z.enum(['box', 'tube']).optional(),
  leavesAt: Moment.optional(),
  extra: JsonObject.optional(),
});
const Parcel = z.object({ id: z.string(), seen: z.unknown() }).meta({ id: 'Parcel' });

const endpoint = resource('Parcels', { id: Id('contact') });
const shared = { summary: 'For tests', description: 'Only for tests', problems: [] } as const;
const read = { ...shared, scope: 'contacts.read', status: 200, response: Parcel } as const;
const write = { ...shared, scope: 'contacts.write', status: 200, response: Parcel } as const;

/** Returns endpoints of every shape; `held` answers when the test releases it. */
function parcelEndpoints(held: { started: () => void; release: Promise<void> }) {
  return [
    endpoint({
      ...write,
      route: 'POST /v2/parcels',
      id: 'createParcel',
      body: NewParcel,
      bodyLimitBytes: 200_000,
      status: 201,
      location: ({ id }) => `/v2/parcels/${id}`,
      handle: ({ body }) => ({ id: knownId, seen: body }),
    }),
    endpoint({
      ...read,
      route: 'GET /v2/parcels',
      id: 'listParcels',
      query: z.object({
        ...pageQuery,
        types: z.array(z.string()).max(5).optional(),
        since: Moment.optional(),
      }),
      handle: ({ query, version }) => ({ id: version, seen: query }),
    }),
    endpoint({
      ...read,
      route: 'GET /v2/parcels/{id}',
      id: 'getParcel',
      handle: (input) => {
        if (input.params.id !== knownId) throw problem('not_found');
        return { id: knownId, seen: null };
      },
    }),
    endpoint({
      ...shared,
      scope: 'contacts.write',
      route: 'DELETE /v2/parcels/{id}',
      id: 'deleteParcel',
      status: 204,
      handle: () => {},
    }),
    endpoint({
      ...write,
      route: 'POST /v2/parcels/{id}/weigh',
      id: 'weighParcel',
      prepare: async (input) => `prepared for ${input.params.id}`,
      handle: ({ prepared }) => ({ id: knownId, seen: prepared }),
    }),
    endpoint({
      ...write,
      route: 'POST /v2/failures',
      id: 'fail',
      body: z.object({ code: z.string().optional() }),
      handle: ({ body }) => {
        throw Object.assign(new Error('SELECT secret FROM hidden_table'), body);
      },
    }),
    endpoint({
      ...write,
      route: 'POST /v2/held',
      id: 'hold',
      handle: async () => {
        held.started();
        await held.release;
        return { id: knownId, seen: null };
      },
    }),
  ];
}

export async function startSmallApi(timeouts: Parameters<typeof createHttpServer>[1] = {}) {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const endpoints = parcelEndpoints({ started: started.resolve, release: release.promise });
  const transactions: string[] = [];
  const app = createApp({
    endpoints,
    authenticate: async (token) => callers.get(token) ?? null,
    transaction: async (work) => {
      transactions.push('began');
      const result = await work();
      transactions.push('committed');
      return result;
    },
  });
  const server = createHttpServer(app, timeouts).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    release.resolve();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  changeSettings({ PUBLIC_URL: url });
  const client = clientOf(url, { endpoints });
  /** Sends a request with the good key, unless another key is given; null sends no key. */
  const call = (method: string, path: string, { key = goodKey, ...rest }: Call = {}) =>
    client.request(method, path, key === null ? rest : { ...rest, key });
  return {
    server,
    port,
    url,
    call,
    endpoints,
    transactions,
    held: { started: started.promise, release: release.resolve },
  };
}

/** Sends bytes as they are, and returns the first answer, or the part that has come when the server closes. */
export async function sendRaw(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = net.connect(port, '127.0.0.1').setNoDelay(true);
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
    const [head, length] = /^[^]*?\r\ncontent-length: (\d+)\r\n[^]*?\r\n\r\n/i.exec(answer) ?? [];
    if (head && Buffer.byteLength(answer) >= head.length + Number(length)) resolve(answer);
  });
  socket.on('error', () => {}).on('close', () => resolve(answer));
  for (const part of parts) {
    socket.write(part);
    await new Promise(setImmediate);
  }
  return promise.finally(() => socket.destroy());
}

/** The parts of a raw answer. */
export function parseRaw(answer: string) {
  const [head = '', body = ''] = answer.split(/\r\n\r\n([\s\S]*)/);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]));
  return { status: Number(statusLine.split(' ')[1]), headers, json: () => JSON.parse(body) };
}

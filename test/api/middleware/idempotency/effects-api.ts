import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createApp } from '../../../../api/app.ts';
import { resource } from '../../../../api/endpoint.ts';
import { createHttpServer } from '../../../../api/http-server.ts';
import { query } from '../../../../shared/db/client.ts';
import { makeTable } from '../../../support/database/own-table.ts';
import { atEnd } from '../../../support/runner/at-end.ts';

const Effect = z.object({ name: z.string(), made: z.int() }).meta({ id: 'Effect' });
const NewEffect = z.object({ name: z.string(), note: z.string().optional() });
const endpoint = resource('Effects', { name: z.string() });
const shared = {
  summary: 'For tests',
  description: 'Only for tests',
  scope: 'contacts.write',
  problems: [],
} as const;

type Behaviour = { prepare: () => unknown; handle: () => unknown };

/**
 * Starts an API whose operations write a row that can be counted, with real authentication and real transactions. The
 * test sets what else the operations do: `handle` runs after the row is written.
 */
export async function startEffectsApi() {
  await makeTable('effects', 'name VARCHAR(100) NOT NULL, made INT NOT NULL AUTO_INCREMENT PRIMARY KEY');
  const nothing: Behaviour = { prepare: () => undefined, handle: () => undefined };
  const behaviour = { ...nothing };
  const write = async (name: string) => {
    const { insertId } = await query<{ insertId: number }>('INSERT INTO effects (name) VALUES (?)', [name]);
    await behaviour.handle();
    return { name, made: insertId };
  };
  const prepare = async () => {
    await behaviour.prepare();
  };
  const endpoints = [
    endpoint({
      ...shared,
      route: 'POST /v2/effects',
      id: 'createEffect',
      body: NewEffect,
      status: 201,
      response: Effect,
      location: ({ made }) => `/v2/effects/${made}`,
      prepare,
      handle: ({ body }) => write(body.name),
    }),
    endpoint({
      ...shared,
      route: 'PATCH /v2/effects/{name}',
      id: 'changeEffect',
      body: NewEffect.partial(),
      status: 200,
      response: Effect,
      handle: (input) => write(input.params.name),
    }),
    endpoint({
      ...shared,
      route: 'POST /v2/effects/{name}',
      id: 'touchEffect',
      status: 204,
      handle: async (input) => void (await write(input.params.name)),
    }),
    // The address of a real operation, so that one request can go to this API and to a real one.
    endpoint({
      ...shared,
      route: 'POST /v2/email',
      id: 'sendEmail',
      body: z.looseObject({}),
      status: 201,
      response: Effect,
      prepare,
      handle: () => write('email'),
    }),
    endpoint({
      ...shared,
      route: 'GET /v2/effects/{name}',
      id: 'getEffect',
      status: 200,
      response: Effect,
      handle: (input) => ({ name: input.params.name, made: 0 }),
    }),
    endpoint({
      ...shared,
      route: 'DELETE /v2/effects/{name}',
      id: 'deleteEffect',
      status: 204,
      handle: async (input) => void (await write(input.params.name)),
    }),
  ];
  const server = createHttpServer(createApp({ endpoints })).listen(0, '127.0.0.1');
  let requests = 0;
  server.on('request', () => (requests += 1));
  await once(server, 'listening');
  atEnd(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    endpoints,
    /** How many requests have come; their bodies may still be on the way. */
    requests: () => requests,
    /** Sets what the operations do from now on besides writing; without an argument they only write. */
    behave: (changes: Partial<Behaviour> = {}) => void Object.assign(behaviour, nothing, changes),
    /** How many rows of this name there are. */
    effects: async (name: string) => {
      const [row] = await query('SELECT COUNT(*) AS n FROM effects WHERE name = ?', [name]);
      return Number(row!['n']);
    },
  };
}

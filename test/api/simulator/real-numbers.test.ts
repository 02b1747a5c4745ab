import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { codeSentTo, sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const call = (method: string, path: string, body?: object) =>
  api.request(method, path, { key: own.key, ...(body && { body }) });
const request = async (name: string): Promise<string> =>
  (await call('POST', '/v2/senders', { name, sampleContent })).body.id;
const phones = async () => JSON.stringify((await call('GET', '/v2/simulator/phones')).body.data);

test('with another gateway, a code to the number of a person goes out by it and is nowhere in the API', async () => {
  // Without another gateway, the simulator plays all phones and shows the texts that they get.
  const first = await request('07403 000001');
  const early = await codeSentTo(own.workspaceId, '07403000001');
  expect(await phones()).toContain(early);

  const network = useTextGateway();
  expect(await phones()).toBe('[]');
  await call('DELETE', `/v2/senders/${first}`);
  const second = await request('07403 000002');
  const [text] = network.taken;
  expect(text).toMatchObject({ recipient: '+447403000002', content: expect.stringMatching(/^\d{6} /) });
  const code = text!.content.slice(0, 6);
  for (const path of [
    '/v2/simulator/phones',
    `/v2/senders/${second}`,
    '/v2/senders',
    '/v2/sms',
    '/v2/events?since=2020-01-01T00:00:00Z',
    '/v2/conversations',
  ]) {
    const { status, body } = await call('GET', path);
    expect([status, path, JSON.stringify(body).includes(`"${code}`)]).toEqual([200, path, false]);
  }
  expect(await query('SELECT 1 FROM simulator_messages WHERE content LIKE ?', [`${code}%`])).toEqual([]);
  expect((await call('POST', `/v2/senders/${second}/verify`, { code })).body.status).toBe('approved');

  // The numbers reserved for drama belong to nobody, so they stay with the simulator.
  await request('07700 900123');
  expect(await phones()).toContain(await codeSentTo(own.workspaceId, '07700900123'));
  expect(network.taken).toHaveLength(1);
});

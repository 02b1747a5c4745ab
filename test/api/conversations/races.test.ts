import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { newSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
});

const pairs = 12;
const textsEach = 6;
const numberOf = (index: number) => `+4477009${`${index}`.padStart(5, '0')}`;

// Shows F45
test('texts that come in and go out at the same time are each counted once, and none is refused', async () => {
  const own = await textingWorkspace();
  const post = async (path: string, body: object) =>
    (await api.request('POST', path, { key: own.key, body })).status;
  const say = (from: string) =>
    post(`/v2/simulator/phones/${encodeURIComponent(from)}/messages`, { content: 'Yes please', to: 'Acme' });
  const numbers = Array.from({ length: pairs }, (_, index) => numberOf(index));
  // The first inbound and outbound texts of a pair arrive together, in one of four orders.
  const statuses = await Promise.all(
    numbers.flatMap((number, index) => {
      const out = () => post('/v2/sms', newSms({ recipient: number }));
      const both = Array.from({ length: textsEach }, () => [() => say(number), out]).flat();
      return [...both.slice(index % 4), ...both.slice(0, index % 4)].map((act) => act());
    }),
  );
  // The requests wait for each other but never in a circle: none is refused for too many conflicting requests.
  expect([...new Set(statuses)]).toEqual([201]);
  const { body } = await api.request('GET', '/v2/conversations?limit=100', { key: own.key });
  const counted = Object.fromEntries(
    body.data.map((row: any) => [row.number, [row.inboundCount, row.outboundCount]]),
  );
  expect(counted).toEqual(Object.fromEntries(numbers.map((number) => [number, [textsEach, textsEach]])));
  for (const row of body.data.slice(0, 3)) {
    const texts = await api.request('GET', `/v2/sms?conversationId=${row.id}`, { key: own.key });
    expect(texts.body.data).toHaveLength(2 * textsEach);
    expect(row.lastMessage.id).toBe(texts.body.data[0].id);
  }
});

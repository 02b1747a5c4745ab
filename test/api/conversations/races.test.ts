import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { newSms, textingWorkspace } from '../../support/new-sms.ts';
import { changeSettings } from '../../support/settings.ts';
import { type Client, startApi } from '../../support/start-api.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
});

const pairs = 40;
const numberOf = (index: number) => `+4477009${`${index}`.padStart(5, '0')}`;

// Shows F45
test('texts that come in and go out at the same time are each counted once in their conversation', async () => {
  const own = await textingWorkspace();
  /** Again after a 503, as its Retry-After says: texts of one pair lock each other out, and some of many give up. */
  const post = async (path: string, body: object) => {
    for (let left = 20; ; left -= 1) {
      const answer = await api.request('POST', path, { key: own.key, body });
      if (answer.status === 201) return;
      if (answer.status !== 503 || left === 0) throw new Error(JSON.stringify(answer.body));
    }
  };
  const say = (from: string) =>
    post(`/v2/simulator/phones/${encodeURIComponent(from)}/messages`, { content: 'Yes please', to: 'Acme' });
  const numbers = Array.from({ length: pairs }, (_, index) => numberOf(index));
  // The first text in and the first ones out meet, two of each kind, in an order of their own for each pair.
  await Promise.all(
    numbers.flatMap((number, index) => {
      const out = () => post('/v2/sms', newSms({ recipient: number }));
      const both = [() => say(number), out, () => say(number), out];
      return [...both.slice(index % 4), ...both.slice(0, index % 4)].map((act) => act());
    }),
  );
  const { body } = await api.request('GET', '/v2/conversations?limit=100', { key: own.key });
  const counted = Object.fromEntries(
    body.data.map((row: any) => [row.number, [row.inboundCount, row.outboundCount]]),
  );
  expect(counted).toEqual(Object.fromEntries(numbers.map((number) => [number, [2, 2]])));
  for (const row of body.data.slice(0, 5)) {
    const texts = await api.request('GET', `/v2/sms?conversationId=${row.id}`, { key: own.key });
    expect(texts.body.data).toHaveLength(4);
    expect(row.lastMessage.id).toBe(texts.body.data[0].id);
  }
});

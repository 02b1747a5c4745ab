import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { postSms, sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

async function keyWith(limits: object): Promise<{ id: string; key: string }> {
  const { status, body } = await api.request('POST', '/v2/api-keys', { key: own.key, body: { limits } });
  expect(status).toBe(201);
  return body;
}
const used = async (id: string) => {
  const { body } = await api.request('GET', `/v2/api-keys/${id}`, { key: own.key });
  return [body.limits.usedToday, body.limits.usedThisMonth];
};
const recipient = '+447407000001';

test.each([
  ['dailyParts', 'The key has used 1 of its 2 parts of today, and this request needs 3.'],
  ['monthlyParts', 'The key has used 1 of its 2 parts of this month, and this request needs 3.'],
])('limit_reached of %s says what is used and what the limit is', async (limit, detail) => {
  const limited = await keyWith({ [limit]: 2 });
  await postSms(api, limited, { recipient, content: 'x' });
  const { status, body } = await postSms(api, limited, { recipient, content: 'x'.repeat(400) });
  expect([status, codeOf(body), body.detail]).toEqual([429, 'limit_reached', detail]);
});

// Shows A51
test('50 messages at once against 100 parts: what fits is accepted, and usedToday is right after each end of them', async () => {
  const limited = await keyWith({ dailyParts: 100 });
  // Each message has three parts, so 33 messages fit.
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      postSms(api, limited, {
        recipient,
        content: 'x'.repeat(400),
        ...(index % 2 === 0 && { scheduledAt }),
      }),
    ),
  );
  const accepted = answers.filter(({ status }) => status === 201).map(({ body }) => body);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(accepted).toHaveLength(33);
  expect(new Set(refused.map(({ status, body }) => `${status} ${codeOf(body)}`))).toEqual(
    new Set(['429 limit_reached']),
  );
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(await used(limited.id)).toEqual([99, 99]);

  const gateway = useTextGateway();
  onTestFinished(gateway.stop);
  const [scheduled, waiting] = [
    accepted.filter((message) => message.scheduledAt !== null),
    accepted.filter((message) => message.scheduledAt === null),
  ];
  const cancelled = scheduled.slice(0, 4);
  const failed = waiting.slice(0, 3);
  const sent = waiting.slice(3, 5);
  gateway.says = () =>
    Promise.resolve({ kind: 'refused', code: 'carrier_rejected', retryable: false, detail: 'no' });
  await Promise.all([
    // Each cancellation and attempt comes twice, but the parts are given back once.
    ...[...cancelled, ...cancelled].map(({ id }) =>
      api.request('DELETE', `/v2/sms/${id}`, { key: limited.key }),
    ),
    ...[...failed, ...failed].map(({ id }) => attempt(id)),
  ]);
  gateway.says = gateway.works;
  for (const { id } of sent) await attempt(id);
  for (const { id } of failed) expect((await smsOf(own, id)).status).toBe('failed');
  for (const { id } of sent) expect((await smsOf(own, id)).status).toBe('sent');
  const expected = 99 - 3 * (cancelled.length + failed.length);
  expect(await used(limited.id)).toEqual([expected, expected]);

  const left = Math.floor((100 - expected) / 3);
  for (let index = 0; index < left; index += 1)
    await sendSms(api, limited, { recipient, content: 'x'.repeat(400) });
  expect((await postSms(api, limited, { recipient, content: 'x'.repeat(400) })).status).toBe(429);
  expect((await postSms(api, limited, { recipient })).status).toBe(100 - expected - 3 * left > 0 ? 201 : 429);
});

test('a message that is refused counts nothing and stores nothing', async () => {
  const limited = await keyWith({ monthlyParts: 2 });
  expect((await postSms(api, limited, { content: 'x'.repeat(400) })).status).toBe(429);
  expect((await postSms(api, limited, { sender: 'Nobody' })).status).toBe(400);
  expect(await used(limited.id)).toEqual([0, 0]);
});

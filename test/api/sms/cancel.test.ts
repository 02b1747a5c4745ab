import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

const inAnHour = () => ({ scheduledAt: new Date(now().getTime() + 3_600_000).toISOString() });
const cancel = (id: string) => api.request('DELETE', `/v2/sms/${id}`, { key: own.key });
const usage = async () => {
  const { body } = await api.request('GET', `/v2/api-keys/${own.keyId}`, { key: own.key });
  return body.limits.usedToday;
};

test('a scheduled message is cancelled once, and its parts are given back once', async () => {
  const before = await usage();
  const { id } = await sendSms(api, own, { ...inAnHour(), content: 'x'.repeat(161) });
  expect(await usage()).toBe(before + 2);
  const answers = await Promise.all([cancel(id), cancel(id), cancel(id)]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409, 409]);
  const done = answers.find(({ status }) => status === 200)!;
  expect(done.body).toMatchObject({ id, status: 'cancelled', sentAt: null });
  expect(codeOf(answers.find(({ status }) => status === 409)!.body)).toBe('not_cancellable');
  expect(await usage()).toBe(before);
  expect((await smsOf(own, id)).eventTypes).toEqual(['sms.queued', 'sms.cancelled']);
  expect(await attempt(id)).toBe('dropped');
});

test('what is not scheduled, or has been sent, is not cancelled', async () => {
  const { id } = await sendSms(api, own);
  expect((await cancel(id)).status).toBe(409);
  await attempt(id);
  const { status, body } = await cancel(id);
  expect([status, body.detail]).toEqual([409, expect.stringContaining('sent')]);
  expect((await smsOf(own, id)).status).toBe('sent');
});

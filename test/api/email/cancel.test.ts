import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as emailDelivery from '../../../shared/domain/email/delivery/delivery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await workspace();
});

const inMinutes = (minutes: number) => new Date(now().getTime() + minutes * 60_000).toISOString();
const cancel = (id: string) => api.request('DELETE', `/v2/email/${id}`, { key: own.key });
const read = async (id: string) => (await api.request('GET', `/v2/email/${id}`, { key: own.key })).body;
const eventsOf = async (id: string): Promise<any[]> =>
  (await api.request('GET', `/v2/email/${id}/events`, { key: own.key })).body.data;

test('a scheduled email that still waits is cancelled and returned', async () => {
  const scheduled = await sendEmail(api, own, { scheduledAt: inMinutes(60), clientReference: 'r' });
  const { status, body } = await cancel(scheduled.id);
  expect(status).toBe(200);
  expect(body).toStrictEqual({ ...scheduled, status: 'cancelled', updatedAt: expect.any(String) });
  expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(scheduled.updatedAt));
  expect(await read(scheduled.id)).toStrictEqual(body);
});

test('the cancelled event follows the queued one and shows the email as it is then', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(60) });
  const { body } = await cancel(id);
  const events = await eventsOf(id);
  expect(events.map(({ type }) => type)).toEqual(['email.queued', 'email.cancelled']);
  expect(events[1]).toMatchObject({ occurredAt: body.updatedAt, data: body });
});

test('updatedAt never falls, though another process whose clock was a little ahead accepted the email', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(60) });
  await query('UPDATE emails SET updated_at = updated_at + INTERVAL 5 SECOND WHERE id = ?', [idToBytes(id)]);
  const before = await read(id);
  expect((await cancel(id)).body.updatedAt).toBe(before.updatedAt);
});

test('nothing of the body is kept of a cancelled email', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(60) });
  await cancel(id);
  expect(await query('SELECT 1 FROM email_bodies WHERE email_id = ?', [idToBytes(id)])).toEqual([]);
});

test('a cancelled email is never sent, even when its time comes and its job is still there', async () => {
  const recipient = `cancelled@${own.domain}`;
  const { id } = await sendEmail(api, own, { recipient, scheduledAt: inMinutes(6) });
  await cancel(id);
  await advanceClock(7 * 60_000);
  expect(await emailDelivery.attempt(id)).toBe('dropped');
  expect(sink.messages.filter(({ envelope }) => envelope.to.includes(recipient))).toEqual([]);
  expect((await read(id)).status).toBe('cancelled');
});

async function refusedWith(id: string, detail = /./): Promise<void> {
  const before = await read(id);
  const { status, body } = await cancel(id);
  expect(status).toBe(409);
  expect(body).toMatchObject({
    type: `${api.url}/problems/not_cancellable`,
    detail: expect.stringMatching(detail),
  });
  expect(await read(id)).toStrictEqual(before);
}

test('an email that was not scheduled cannot be cancelled, although it still waits', async () => {
  await refusedWith((await sendEmail(api, own)).id);
});

test('a cancelled email cannot be cancelled again', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(60) });
  await cancel(id);
  await refusedWith(id);
  expect(await eventsOf(id)).toHaveLength(2);
});

test('a scheduled email whose time has come can no longer be cancelled', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(6) });
  await advanceClock(6 * 60_000 + 1000);
  await refusedWith(id, /^The scheduled time has passed/);
});

test('an email that was sent can no longer be cancelled', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(6) });
  await advanceClock(6 * 60_000 + 1000);
  expect(await emailDelivery.attempt(id)).toBe('done');
  expect((await read(id)).status).toBe('sent');
  await refusedWith(id, /its status is sent/);
});

test('of many who cancel at once one succeeds, and there is one event', async () => {
  const { id } = await sendEmail(api, own, { scheduledAt: inMinutes(60) });
  const answers = await Promise.all(Array.from({ length: 12 }, () => cancel(id)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array(11).fill(409)]);
  expect(await eventsOf(id)).toHaveLength(2);
});

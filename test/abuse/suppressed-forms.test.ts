import { beforeAll, expect, test } from 'vitest';
import { attempt } from '../../shared/domain/email/delivery/delivery.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { sendEmail } from '../support/data/new-email.ts';
import { postSms, textingWorkspace } from '../support/data/new-sms.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await textingWorkspace();
  for (const body of [{ number: '07700 900123' }, { email: 'Ada.Lovelace@Bücher.example' }])
    expect((await api.request('POST', '/v2/suppressions', { key: own.key, body })).status).toBe(201);
});

// Shows A54
test.each([
  '+447700900123',
  '07700900123',
  '447700900123',
  '7700900123',
  '00447700900123',
  '+44 (0)7700 900123',
  '+4407700900123',
  '+44\u00a07700\u2011900.123',
  '(07700) 900-123',
  '+44\u200b7700900123',
  '\u202d+447700900123\u202c',
  '＋４４７７００９００１２３',
  '𝟎𝟕𝟕𝟎𝟎𝟗𝟎𝟎𝟏𝟐𝟑',
])('a suppressed number is not texted under the form %j', async (recipient) => {
  const { status, body } = await postSms(api, own, { recipient });
  expect([status, body.type]).toEqual([422, `${api.url}/problems/recipient_suppressed`]);
});

// Shows A54
test.each([
  '+447700900123;ext=1',
  '+447700900123 x5',
  '+447700900123,1',
  'tel:+447700900123',
  '+44+447700900123',
  '+447700900123 / 124',
  '٠٧٧٠٠٩٠٠١٢٣',
  '+4477009001230',
  '+44770090012З',
])('what might be read as a suppressed number is refused: %j', async (recipient) => {
  const { status, body } = await postSms(api, own, { recipient });
  expect([status, Object.keys(body.errors)]).toEqual([400, ['recipient']]);
});

// Shows A54
test.each([
  'ada.lovelace@bücher.example',
  'ADA.LOVELACE@BÜCHER.EXAMPLE',
  'Ada.Lovelace@xn--bcher-kva.example',
  'ada.lovelace@XN--BCHER-KVA.example',
  'ada.lovelace@bu\u0308cher.example',
  'ada.lovelace@b\u034fücher.example',
  'ada.lovelace@bücher\ufe0f.example',
  'ada.lovelace@ｂücher.example',
])('a suppressed address is not mailed under the form %j', async (recipient) => {
  const { id } = await sendEmail(api, own, { recipient });
  await attempt(id);
  const { body } = await api.request('GET', `/v2/email/${id}`, { key: own.key });
  expect([body.status, body.reason?.category]).toEqual(['failed', 'suppressed']);
});

// Shows A30
test.each([
  'ada.lovelace+1@bücher.example',
  'adalovelace@bücher.example',
  'ada.lovelace@bucher.example',
  'ada.lovelace@büсher.example',
])('another address that looks like it is its own, and goes where it says: %j', async (recipient) => {
  const { id } = await sendEmail(api, own, { recipient });
  await attempt(id);
  const { body } = await api.request('GET', `/v2/email/${id}`, { key: own.key });
  expect(body.status).toBe('sent');
  expect(sink.messages.at(-1)!.envelope.to.map((address) => address.toLowerCase())).not.toContain(
    'ada.lovelace@xn--bcher-kva.example',
  );
});

// Shows A54
test('an address that is suppressed while its email waits is not mailed', async () => {
  const { id } = await sendEmail(api, own, { recipient: 'late@example.com' });
  const body = { email: 'LATE@example.com' };
  expect((await api.request('POST', '/v2/suppressions', { key: own.key, body })).status).toBe(201);
  await attempt(id);
  const answer = await api.request('GET', `/v2/email/${id}`, { key: own.key });
  expect([answer.body.status, answer.body.reason.category]).toEqual(['failed', 'suppressed']);
});

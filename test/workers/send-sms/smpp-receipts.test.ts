import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { logger } from '../../../shared/common/logger.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { type ShortMessage, tags } from '../../../shared/transports/sms/smpp/pdu.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { receipt, textFrom, useCarrier } from '../../support/servers/smpp-carrier.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';

useDatabase();

const recipient = '+447407000001';

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let smsc: Smsc;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});
beforeEach(async () => {
  smsc = await startSmsc();
  onTestFinished(() => smsc.close());
  await useCarrier(smsc);
});

let made = 0;

/** Sends a text of one part, and returns its id and that of the carrier. */
async function sent(): Promise<{ id: string; reference: string }> {
  made += 1;
  const reference = `receipts-${made}`;
  smsc.submit = () => ({ id: reference });
  const { id } = await sendSms(api, own, { recipient });
  await attempt(id);
  expect(await eventsOf(id)).toEqual(untilSent);
  return { id, reference };
}
const untilSent = ['sms.queued', 'sms.sent'];
const eventsOf = async (id: string) => (await smsOf(own, id)).eventTypes;

async function report(message: Partial<ShortMessage>): Promise<void> {
  expect(await smsc.answerOf(smsc.deliver(message))).toBe(0);
}

test.each(['ENROUTE', 'ACCEPTD'])('a receipt that says %s is no end: the next one is', async (state) => {
  const { id, reference } = await sent();
  await report(receipt(reference, state));
  // An intermediate notification.
  await report({ ...receipt(reference, state), esmClass: 0x20 });
  expect(await eventsOf(id)).toEqual(untilSent);
  await report(receipt(reference));
  expect(await eventsOf(id)).toEqual([...untilSent, 'sms.delivered']);
});

test('an intermediate notification is no end, whatever failure it says', async () => {
  const { id, reference } = await sent();
  await report({ ...receipt(reference, 'UNDELIV'), esmClass: 0x20 });
  expect(await eventsOf(id)).toEqual(untilSent);
  await report(receipt(reference));
  expect(await eventsOf(id)).toEqual([...untilSent, 'sms.delivered']);
});

test('a receipt may come in message_payload', async () => {
  const { id, reference } = await sent();
  const { message } = receipt(reference, 'UNDELIV');
  await report({ esmClass: 4, tlvs: new Map([[tags.messagePayload, message!]]) });
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code: 'undeliverable' } });
});

test('a receipt that comes after the end of a text changes nothing', async () => {
  const { id, reference } = await sent();
  for (const state of ['DELIVRD', 'DELIVRD', 'UNDELIV']) {
    await report(receipt(reference, state));
    expect(await eventsOf(id)).toEqual([...untilSent, 'sms.delivered']);
  }
  expect(await smsOf(own, id)).toMatchObject({ status: 'delivered', reason: null });
});

test('a receipt that cannot be read is answered, counted and told to the operator', async () => {
  const warn = vi.spyOn(logger, 'warn');
  onTestFinished(() => warn.mockRestore());
  const counted = () => countOf('sms_gateway_unread{gateway="carrier",what="receipt"}');
  const before = await counted();
  for (const words of ['stat:DELIVRD', 'id:7']) await report({ esmClass: 4, message: Buffer.from(words) });
  expect(await counted()).toBe(before + 2);
  const lines = (warn.mock.calls as unknown[][]).filter(([, line]) =>
    String(line).includes('cannot be read'),
  );
  expect(lines).toEqual([
    [{ gateway: 'carrier', what: 'receipt', detail: 'it names no message or no state' }, expect.anything()],
  ]);
});

test('each text for a number of nobody is counted, and the operator is told once a minute', async () => {
  const warn = vi.spyOn(logger, 'warn');
  onTestFinished(() => warn.mockRestore());
  const counted = () => countOf('sms_inbound_unmatched{gateway="carrier",what="recipient"}');
  const before = await counted();
  for (let left = 5; left > 0; left -= 1)
    await report(textFrom(recipient, '+447407000098', Buffer.from('Hello')));
  expect(await counted()).toBe(before + 5);
  const lines = (warn.mock.calls as unknown[][]).filter(([, line]) =>
    String(line).includes('was not stored'),
  );
  expect(lines).toEqual([[{ gateway: 'carrier', what: 'recipient' }, expect.anything()]]);
});

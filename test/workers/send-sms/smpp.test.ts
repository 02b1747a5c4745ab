import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import type { ShortMessage } from '../../../shared/transports/sms/smpp/pdu.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { newSms, sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import * as carrier from '../../support/servers/smpp-carrier.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const recipient = '+447407000001';
const number = '+447407000099';
const minuteMs = 60_000;

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let smsc: Smsc;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
});
beforeEach(async () => {
  smsc = await startSmsc();
  onTestFinished(() => smsc.close());
});

/** Makes a text from a person to the number of the workspace. */
const textFrom = (message: Buffer, changes: Partial<ShortMessage> = {}) =>
  carrier.textFrom(recipient, number, message, changes);
const { receipt } = carrier;
const received = async () => {
  const rows = await query<{ sender: Buffer; recipient: Buffer; content: string }[]>(
    "SELECT sender, recipient, content FROM sms_messages WHERE direction = 'inbound' ORDER BY id",
  );
  return rows.map((row) => [row.sender.toString(), row.recipient.toString(), row.content]);
};
const statusOf = async (id: string) => (await smsOf(own, id)).status;

test('workers carry a text to the carrier and its receipt back, and say goodbye when they stop', async () => {
  await carrier.useCarrier(smsc);
  await smsGateways.stop();
  const workers = await runWorkers(['send-sms']);
  await waitFor('the worker is bound', () => smsc.binds.length === 2);
  smsc.submit = () => ({ id: '0A1B' });
  const { id } = await sendSms(api, own, { recipient, content: 'Grüße' });
  await waitFor('it is sent', async () => (await statusOf(id)) === 'sent');
  expect(smsc.taken).toMatchObject([
    { source: { address: 'Acme' }, destination: { address: '447407000001' }, registeredDelivery: 1 },
  ]);
  expect(await smsc.answerOf(smsc.deliver(receipt('a1b')))).toBe(0);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'delivered',
    gateway: 'carrier',
    eventTypes: ['sms.queued', 'sms.sent', 'sms.delivered'],
  });
  await workers.stop();
  expect(smsc.unbinds).toBe(2);
});

test('a receipt that is there before the answer is applied after it; hex and decimal ids are one', async () => {
  await carrier.useCarrier(smsc, { answerIds: 'hex', receiptIds: 'decimal' });
  smsc.submit = () => {
    smsc.deliver(receipt(String(0xbeef), 'REJECTD'));
    return { id: 'BEEF' };
  };
  const { id } = await sendSms(api, own, { recipient });
  await attempt(id);
  await waitFor('it has failed', async () => {
    await recovery.sweep();
    return (await statusOf(id)) === 'failed';
  });
  expect((await smsOf(own, id)).reason).toMatchObject({ category: 'rejected', code: 'rejected' });
});

test('a text of several parts is delivered when all are, and failed when one is', async () => {
  await carrier.useCarrier(smsc);
  const content = 'x'.repeat(400);
  smsc.submit = (_, count) => ({ id: `first-${count}` });
  const first = await sendSms(api, own, { recipient, content });
  await attempt(first.id);
  for (const part of [3, 1, 1]) expect(await smsc.answerOf(smsc.deliver(receipt(`first-${part}`)))).toBe(0);
  expect(await statusOf(first.id)).toBe('sent');
  await smsc.answerOf(smsc.deliver(receipt('first-2')));
  expect(await statusOf(first.id)).toBe('delivered');

  smsc.submit = (_, count) => ({ id: `second-${count}` });
  const second = await sendSms(api, own, { recipient, content });
  await attempt(second.id);
  await smsc.answerOf(smsc.deliver(receipt('second-4')));
  await smsc.answerOf(smsc.deliver(receipt('second-5', 'UNDELIV')));
  expect(await statusOf(second.id)).toBe('failed');
  await smsc.answerOf(smsc.deliver(receipt('second-6')));
  expect(await statusOf(second.id)).toBe('failed');
});

test('a line that is cut after submit_sm costs one more copy at most; of several parts only those without an answer', async () => {
  await carrier.useCarrier(smsc);
  smsc.submit = ({ message: { 5: part } }) => (part === 2 ? 'silence' : { id: `cut-${part}` });
  const { id } = await sendSms(api, own, { recipient, content: 'x'.repeat(400) });
  const attempted = attempt(id);
  await waitFor('three are taken', () => smsc.taken.length === 3);
  smsc.submit = () => ({ id: 'cut-2' });
  // A receipt for a part of a text that is not sent yet is kept until the text is sent.
  expect(await smsc.answerOf(smsc.deliver(receipt('cut-1')))).toBe(0);
  smsc.cut();
  await attempted;
  expect(await smsOf(own, id)).toMatchObject({ status: 'queued', uncertainCount: 1, gateway: 'carrier' });
  await waitFor('the line is there again', () => smsc.binds.length === 2);
  await advanceClock(2 * minuteMs);
  await attempt(id);
  expect(smsc.taken).toHaveLength(4);
  for (const part of [2, 3]) await smsc.answerOf(smsc.deliver(receipt(`cut-${part}`)));
  expect(await statusOf(id)).toBe('delivered');
});

test('texts to the number of a workspace are answered once they are kept; long ones are joined', async () => {
  await query('DELETE FROM sms_messages');
  // Another test renames this table for a while, so rows that should have been deleted at that moment may be left.
  await query('DELETE FROM sms_inbound_unanswered');
  await carrier.useCarrier(smsc);
  const hello = textFrom(Buffer.from('Hello'));
  expect(await smsc.answerOf(smsc.deliver(hello))).toBe(0);
  await waitFor('it is forgotten', async () => {
    const [row] = await query('SELECT COUNT(*) AS n FROM sms_inbound_unanswered');
    return row!.n === 0;
  });
  // The same words sent once more are a new text.
  await smsc.answerOf(smsc.deliver(hello));
  const parts = ['Grüße ', '😀', 'end'].map((content, index) =>
    textFrom(
      Buffer.concat([Buffer.from([5, 0, 3, 7, 3, index + 1]), Buffer.from(content, 'utf16le').swap16()]),
      { esmClass: 0x40, dataCoding: 8 },
    ),
  );
  for (const index of [2, 0, 0, 1]) expect(await smsc.answerOf(smsc.deliver(parts[index]!))).toBe(0);
  expect(await received()).toEqual([
    [recipient, number, 'Hello'],
    [recipient, number, 'Hello'],
    [recipient, number, 'Grüße 😀end'],
  ]);
});

test('a text whose answer was lost comes again and is kept once; one that cannot be kept is to come again', async () => {
  await query('DELETE FROM sms_messages');
  await carrier.useCarrier(smsc);
  const part = {
    gateway: 'carrier',
    sender: recipient.slice(1),
    recipient: number.slice(1),
    content: 'Once',
    place: null,
  };
  // The process died before it could answer.
  await smsGateways.receive(part, { of: 'a process that died' });
  expect(await smsc.answerOf(smsc.deliver(textFrom(Buffer.from('Once'))))).toBe(0);
  expect(await received()).toHaveLength(1);

  await query('RENAME TABLE sms_inbound_unanswered TO sms_inbound_unanswered_away');
  const refused = await smsc.answerOf(smsc.deliver(textFrom(Buffer.from('Later'))));
  await query('RENAME TABLE sms_inbound_unanswered_away TO sms_inbound_unanswered');
  expect(refused).toBe(0x64);
  expect(await received()).toHaveLength(1);
  await smsc.answerOf(smsc.deliver(textFrom(Buffer.from('Later'))));
  expect(await received()).toHaveLength(2);
});

test('STOP suppresses the number; a text to nobody is answered and kept nowhere', async () => {
  await query('DELETE FROM sms_messages');
  await carrier.useCarrier(smsc);
  const from = { ton: 1, npi: 1, address: '447407000055' };
  expect(await smsc.answerOf(smsc.deliver(textFrom(Buffer.from(' stop.'), { source: from })))).toBe(0);
  const { body } = await api.request('GET', '/v2/suppressions', { key: own.key });
  expect(body.data).toEqual([expect.objectContaining({ number: '+447407000055', source: 'stop' })]);
  const strange = { destination: { ton: 1, npi: 1, address: '447407000098' } };
  expect(await smsc.answerOf(smsc.deliver(textFrom(Buffer.from('Hi'), strange)))).toBe(0);
  const nameless = { source: { ton: 5, npi: 0, address: 'Bank' } };
  expect(await smsc.answerOf(smsc.deliver(textFrom(Buffer.from('Hi'), nameless)))).toBe(0);
  expect(await received()).toHaveLength(1);
});

test('parts whose others do not come in a day are received as they are', async () => {
  await query('DELETE FROM sms_messages');
  await carrier.useCarrier(smsc);
  const text = textFrom(Buffer.concat([Buffer.from([6, 8, 4, 1, 2, 3, 2]), Buffer.from('middle')]), {
    esmClass: 0x40,
  });
  expect(await smsc.answerOf(smsc.deliver(text))).toBe(0);
  await recovery.sweep();
  expect(await received()).toEqual([]);
  await advanceClock(25 * 60 * minuteMs);
  await recovery.sweep();
  expect(await received()).toEqual([[recipient, number, 'middle']]);
  expect(await query('SELECT * FROM sms_inbound_parts')).toEqual([]);
});

test('a text in parts that cannot be received holds up none behind it', async () => {
  await query('DELETE FROM sms_messages');
  await carrier.useCarrier(smsc);
  for (const reference of [3, 4]) {
    const part = Buffer.concat([
      Buffer.from([6, 8, 4, 1, reference, 3, 2]),
      Buffer.from(`text ${reference}`),
    ]);
    expect(await smsc.answerOf(smsc.deliver(textFrom(part, { esmClass: 0x40 })))).toBe(0);
  }
  await query(`CREATE TRIGGER refuse_one BEFORE INSERT ON sms_messages FOR EACH ROW
    IF NEW.content = 'text 3' THEN SIGNAL SQLSTATE '45000'; END IF`);
  await advanceClock(25 * 60 * minuteMs);
  await expect(recovery.sweep()).rejects.toThrow();
  await query('DROP TRIGGER refuse_one');
  expect(await received()).toEqual([[recipient, number, 'text 4']]);
  await recovery.sweep();
  expect(await received()).toHaveLength(2);
});

test('a carrier that has stopped answering does not hold up the texts of its customer that go by another', async () => {
  const sound = await startSmsc();
  const gateway = (name: string, { port }: Smsc, changes = {}) => ({
    name,
    type: 'smpp',
    url: `smpp://acme:secret@127.0.0.1:${port}`,
    ...changes,
  });
  smsc.submit = () => 'silence';
  changeSettings({
    // A text waits 0.6 of this for its answer: as long as a test may take, so that none is given up. A text that is given
    // up leaves its place in the window to another one, and the pause after it would help the others. It is more than the
    // setting allows, which matters only where a process is started.
    SMS_TIMEOUT_SECONDS: 400,
    SMS_CONCURRENCY: 20,
    SMS_GATEWAYS: gatewayList.parse(
      JSON.stringify([gateway('silent', smsc, { prefixes: ['+4474070002'] }), gateway('sound', sound)]),
    ),
  });
  const send = (prefix: string) => (_: unknown, index: number) =>
    sendSms(api, own, { recipient: `${prefix}${String(index).padStart(2, '0')}` });
  const silent = await Promise.all(Array.from({ length: 40 }, send('+4474070002')));
  const workers = await runWorkers(['send-sms']);
  await waitFor('the carrier has as many as it may', () => smsc.taken.length === 10);
  const others = await Promise.all(Array.from({ length: 40 }, send('+4474070003')));
  for (const { id } of others) await waitFor('it is sent', async () => (await statusOf(id)) === 'sent');
  // Of the texts to the silent gateway none has ended, and none beyond the window was sent.
  expect(smsc.taken).toHaveLength(10);
  const ends = await Promise.all(silent.map(({ id }) => smsOf(own, id)));
  expect(new Set(ends.map(({ status, uncertainCount }) => `${status} ${uncertainCount}`))).toEqual(
    new Set(['queued 0']),
  );
  smsc.close();
  await workers.stop();
  await query('DELETE FROM sms_messages');
});

test('a number that no gateway reaches is refused; one whose gateway is gone since fails, and costs nothing', async () => {
  await carrier.useCarrier(smsc, { prefixes: ['+4474'] });
  const answer = await api.request('POST', '/v2/sms', {
    key: own.key,
    body: newSms({ recipient: '+447555123456' }),
  });
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toEqual({ recipient: [expect.stringContaining('no gateway')] });
  const { id } = await sendSms(api, own, { recipient });
  await smsGateways.stop();
  await carrier.useCarrier(smsc, { prefixes: ['+4475'] });
  await attempt(id);
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code: 'no_route' } });
  // Numbers that belong to no person go to the simulator, whatever the list of gateways says.
  const nobodys = await sendSms(api, own, { recipient: '+447700900123' });
  await attempt(nobodys.id);
  expect(await smsOf(own, nobodys.id)).toMatchObject({ status: 'sent', gateway: 'simulator' });
  expect(smsc.taken).toEqual([]);
});

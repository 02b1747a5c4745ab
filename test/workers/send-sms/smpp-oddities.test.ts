import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { listSmsParts } from '../../../shared/db/sms/parts.system.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { tags } from '../../../shared/transports/sms/smpp/pdu.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { receipt, textFrom, useCarrier } from '../../support/servers/smpp-carrier.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

/** Tests of carriers that do things which the specification leaves open or does not foresee. */

const recipient = '+447407000001';
const ofThree = 'x'.repeat(400);

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let smsc: Smsc;
beforeAll(async () => {
  api = await startApi();
});
// A number exists once in the whole platform, so each test needs a new one.
let made = 0;
let number: string;
beforeEach(async () => {
  own = await textingWorkspace();
  made += 1;
  number = `+4474070009${String(made).padStart(2, '0')}`;
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
  smsc = await startSmsc();
  onTestFinished(() => smsc.close());
});

const statusOf = async (id: string) => (await smsOf(own, id)).status;
const received = async () => {
  const { body } = await api.request('GET', '/v2/sms?direction=inbound&limit=200', { key: own.key });
  return body.data.map(({ content }: { content: string }) => content);
};
const inbound = (content: string | Buffer, changes: object = {}) =>
  smsc.deliver(textFrom(recipient, number, Buffer.from(content as string), changes));

test.each([
  ['no ids', () => ''],
  ['one id to all parts of a text', () => 'same'],
])(
  'a carrier that gives %s is not sent parts twice, and what can be heard of them says the end',
  async (_, idOf) => {
    await useCarrier(smsc);
    smsc.submit = ({ message: { 5: part } }) => (part === 3 ? { status: 0x58 } : { id: idOf() });
    const { id } = await sendSms(api, own, { recipient, content: ofThree });
    await attempt(id);
    expect(await statusOf(id)).toBe('queued');
    const known = await listSmsParts(id, 'carrier');
    expect(new Set(known.map(({ part }) => part))).toEqual(new Set([1, 2]));
    smsc.submit = () => ({ id: 'last' });
    // The carrier has asked for fewer messages for one second of real time, which a moved clock does not shorten.
    await waitFor('the last part is taken', async () => {
      await advanceClock(120_000);
      await attempt(id);
      return (await statusOf(id)) === 'sent';
    });
    expect(smsc.taken.map(({ message: { 5: part } }) => part)).toEqual([1, 2, 3, 3]);
    if (idOf() !== '') expect(await smsc.answerOf(smsc.deliver(receipt(idOf())))).toBe(0);
    expect(await smsc.answerOf(smsc.deliver(receipt('last')))).toBe(0);
    expect(await statusOf(id)).toBe('delivered');
  },
);

test('two texts that say the same at one moment are two, also where their answers are lost and they come again', async () => {
  await useCarrier(smsc);
  const both = [inbound('Yes'), inbound('Yes')];
  expect(await Promise.all(both.map(smsc.answerOf))).toEqual([0, 0]);
  expect(await received()).toHaveLength(2);

  const no = {
    gateway: 'carrier',
    sender: recipient.slice(1),
    recipient: number.slice(1),
    content: 'No',
    place: null,
  };
  const line = { of: 'a process that died' };
  await Promise.all([1, 2].map(() => smsGateways.receive(no, line)));
  for (const _ of [1, 2]) expect(await smsc.answerOf(inbound('No'))).toBe(0);
  expect(await received()).toHaveLength(4);
});

test('a text longer than can be kept is kept without its end, up to a whole character, and does not come again', async () => {
  await useCarrier(smsc);
  const before = await countOf('sms_inbound_cut{gateway="carrier"}');
  const long = `${'漢'.repeat(9_999)}😀${'字'.repeat(13_000)}`;
  const tlvs = new Map([[tags.messagePayload, Buffer.from(long, 'utf16le').swap16()]]);
  expect(await smsc.answerOf(inbound('', { dataCoding: 8, tlvs }))).toBe(0);
  expect(await received()).toEqual(['漢'.repeat(9_999)]);
  expect(await countOf('sms_inbound_cut{gateway="carrier"}')).toBe(before + 1);
});

test('parts that are too long, or nothing but halves of characters, are kept too', async () => {
  await useCarrier(smsc);
  const payload = (part: number, text: Buffer) => ({
    esmClass: 0x40,
    dataCoding: 8,
    tlvs: new Map([[tags.messagePayload, Buffer.concat([Buffer.from([5, 0, 3, 9, 2, part]), text])]]),
  });
  const halves = Buffer.alloc(2 * 20_000, Buffer.from([0xd8, 0x3d]));
  expect(
    await smsc.answerOf(inbound('', payload(1, Buffer.from('a'.repeat(9_990), 'utf16le').swap16()))),
  ).toBe(0);
  expect(await smsc.answerOf(inbound('', payload(2, halves)))).toBe(0);
  const [content] = await received();
  expect([content.length, content.slice(0, 9_990)]).toEqual([10_000, 'a'.repeat(9_990)]);
});

test('a character of two septets that is split between two parts is whole in the joined text', async () => {
  await useCarrier(smsc);
  const part = (place: number, septets: string) =>
    inbound(Buffer.from(`05000308020${place}${septets}`, 'hex'), { esmClass: 0x40 });
  // The second part comes first. 1b65 is the euro sign.
  expect(await smsc.answerOf(part(2, '6535'))).toBe(0);
  expect(await smsc.answerOf(part(1, '411b'))).toBe(0);
  // In a text of its own, nothing follows the escape.
  expect(await smsc.answerOf(inbound(Buffer.from('411b', 'hex')))).toBe(0);
  expect((await received()).toSorted()).toEqual(['A\u00a0', 'A€5']);
});

test('a part that comes again after its text was joined is no text of its own', async () => {
  await useCarrier(smsc);
  const part = (place: number) =>
    smsc.answerOf(
      inbound(Buffer.concat([Buffer.from([5, 0, 3, 10, 3, place]), Buffer.from(`${place} `)]), {
        esmClass: 0x40,
      }),
    );
  const before = await countOf('sms_inbound_repeated{gateway="carrier"}');
  for (const place of [1, 2, 3, 2]) expect(await part(place)).toBe(0);
  expect(await countOf('sms_inbound_repeated{gateway="carrier"}')).toBe(before + 1);
  await advanceClock(1_800_000);
  expect(await part(2)).toBe(0);
  await advanceClock(25 * 3_600_000);
  await recovery.sweep();
  expect(await received()).toEqual(['1 2 3 ']);
});

test('statuses that the carrier makes up are counted under one label', async () => {
  await useCarrier(smsc);
  const countsOf = async () =>
    Promise.all(
      ['0xb', 'other'].map((status) => countOf(`sms_gateway_refusals{gateway="carrier",status="${status}"}`)),
    );
  const before = await countsOf();
  for (const status of [0x0b, 0x411, 0x412]) {
    smsc.submit = () => ({ status });
    await attempt((await sendSms(api, own, { recipient })).id);
  }
  expect((await countsOf()).map((count, index) => count - before[index]!)).toEqual([1, 2]);
});

test('where a carrier gives one id to several texts, a receipt is for the newest', async () => {
  await useCarrier(smsc, { longMessages: 'payload' });
  smsc.submit = () => ({ id: 'again' });
  const ids: string[] = [];
  for (const _ of [1, 2, 3]) {
    const { id } = await sendSms(api, own, { recipient, content: ofThree });
    await attempt(id);
    ids.push(id);
  }
  expect(await smsc.answerOf(smsc.deliver(receipt('again', 'REJECTD')))).toBe(0);
  expect(await Promise.all(ids.map(statusOf))).toEqual(['sent', 'sent', 'failed']);
});

test.each([
  ['first', 1, 'sent'],
  ['second', 2, 'sent'],
  ['first', 1, 'delivered'],
  ['second', 2, 'delivered'],
] as const)(
  'a receipt is for the %s part of a newer text, where an older text of one part has its id (part %i, %s)',
  async (_, again, older) => {
    await useCarrier(smsc);
    smsc.submit = () => ({ id: 'again' });
    const { id: one } = await sendSms(api, own, { recipient, content: 'Hi' });
    await attempt(one);
    const report = (reference: string) => smsc.answerOf(smsc.deliver(receipt(reference)));
    if (older === 'delivered') expect(await report('again')).toBe(0);
    smsc.submit = ({ message: { 5: part } }) => ({ id: part === again ? 'again' : 'other' });
    const { id: two } = await sendSms(api, own, { recipient, content: 'x'.repeat(200) });
    await attempt(two);
    expect([await report('again'), await report('other')]).toEqual([0, 0]);
    expect([await statusOf(one), await statusOf(two)]).toEqual([older, 'delivered']);
    // An older text of several parts does not keep its id from a newer text of one.
    smsc.submit = () => ({ id: 'again' });
    const { id: newest } = await sendSms(api, own, { recipient, content: 'Hi' });
    await attempt(newest);
    expect(await report('again')).toBe(0);
    expect(await statusOf(newest)).toBe('delivered');
  },
);

test('a number that is written without its country is one of the country that the text came to, or of nobody', async () => {
  await useCarrier(smsc);
  const suppressed = async () =>
    (await api.request('GET', '/v2/suppressions', { key: own.key })).body.data.map((one: any) => one.number);
  const stopFrom = (address: string) =>
    smsc.answerOf(inbound('STOP', { source: { ton: 2, npi: 1, address } }));
  const before = await countOf('sms_inbound_unmatched{gateway="carrier",what="sender"}');
  // With a plus in front it would be a mobile number of Singapore.
  expect(await stopFrom('6591234567')).toBe(0);
  expect(await suppressed()).toEqual([]);
  expect(await countOf('sms_inbound_unmatched{gateway="carrier",what="sender"}')).toBe(before + 1);
  expect(await stopFrom('7407000001')).toBe(0);
  expect(await suppressed()).toEqual([recipient]);
});

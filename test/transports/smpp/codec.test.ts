import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromGsm7, joinParts, partsOf, toGsm7 } from '../../../shared/formats/sms/gsm-7.ts';
import { frameReader } from '../../../shared/transports/sms/smpp/frames.ts';
import {
  decodePdu,
  decodeShortMessage,
  encodePdu,
  encodeShortMessage,
  firstText,
  PduFault,
  type ShortMessage,
  tags,
} from '../../../shared/transports/sms/smpp/pdu.ts';
import { canonicalId, isReceipt, readReceipt } from '../../../shared/transports/sms/smpp/receipts.ts';
import { outcomeOf } from '../../../shared/transports/sms/smpp/statuses.ts';
import {
  decodeText,
  type EncodedPart,
  encodeText,
  longForms,
} from '../../../shared/transports/sms/smpp/text.ts';

const shortMessage = (changes: Partial<ShortMessage> = {}): ShortMessage => ({
  source: { ton: 5, npi: 0, address: 'Acme' },
  destination: { ton: 1, npi: 1, address: '447400000001' },
  esmClass: 0,
  validityPeriod: '',
  registeredDelivery: 1,
  dataCoding: 0,
  message: Buffer.from('Hi'),
  tlvs: new Map(),
  ...changes,
});

test('a submit_sm is the bytes that the specification says', () => {
  const body = encodeShortMessage(shortMessage());
  expect(encodePdu({ id: 4, status: 0, sequence: 7, body }).toString('hex')).toBe(
    // length 51, submit_sm, status 0, sequence 7
    '0000003300000004000000000000000700' +
      // TON 5, NPI 0, Acme; TON 1, NPI 1, 447400000001
      '050041636d6500' +
      '010134343734303030303030303100' +
      // esm_class, protocol, priority, no schedule, no validity, receipt, no replacing, coding, no template, 2 bytes
      '0000000000010000000248' +
      '69',
  );
});

test('answers of carriers are read as some of them come: with a body beside a fault, without its end, with nothing', () => {
  const withBody = decodePdu(
    Buffer.from('00000021800000040000000b000000023041303030303030413344333233413100', 'hex'),
  );
  expect(withBody).toMatchObject({ id: 0x80000004, status: 0x0b, sequence: 2 });
  expect(firstText(withBody.body)).toBe('0A000000A3D323A1');
  expect(firstText(Buffer.from('abc'))).toBe('abc');
  expect(firstText(Buffer.alloc(0))).toBe('');
});

test('a PDU split at every byte, and many at once, are read whole', () => {
  const pdus = Array.from({ length: 5 }, (_, index) =>
    encodePdu({ id: 5, status: 0, sequence: index, body: Buffer.alloc(index * 40, index) }),
  );
  const stream = Buffer.concat(pdus);
  for (const size of [1, 2, 3, 7, 16, 17, stream.length]) {
    const read = frameReader();
    const frames: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) frames.push(...read(stream.subarray(at, at + size)));
    expect(frames).toEqual(pdus);
  }
  for (let at = 0; at <= stream.length; at += 1) {
    const read = frameReader();
    expect([...read(stream.subarray(0, at)), ...read(stream.subarray(at))], `cut at ${at}`).toEqual(pdus);
  }
});

test('a length that no PDU has ends the line', () => {
  for (const length of [0, 15, 66_001, 0x48545450, 0xffffffff]) {
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32BE(length);
    expect(() => frameReader()(bytes), String(length)).toThrow(PduFault);
  }
});

test('whatever a body holds, it is read or refused, and what is written is read back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        const message = decodeShortMessage(Buffer.from(bytes));
        expect(decodeText(message, 'gsm7').content).toBeTypeOf('string');
        readReceipt(message, 'hex');
      } catch (error) {
        expect(error).toBeInstanceOf(PduFault);
      }
    }),
  );
  const address = fc
    .stringMatching(/^[A-Za-z0-9 ]{0,20}$/)
    .map((value) => ({ ton: 1, npi: 1, address: value }));
  const message = fc.record({
    source: address,
    destination: address,
    esmClass: fc.nat(255),
    validityPeriod: fc.constantFrom('', '000002000000000R'),
    registeredDelivery: fc.nat(255),
    dataCoding: fc.nat(255),
    message: fc.uint8Array({ maxLength: 254 }).map((bytes) => Buffer.from(bytes)),
    tlvs: fc
      .array(
        fc.tuple(
          fc.nat(0xffff),
          fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        ),
      )
      .map((entries) => new Map(entries)),
  });
  fc.assert(
    fc.property(message, (given) => {
      expect(decodeShortMessage(encodeShortMessage(given))).toEqual(given);
    }),
  );
});

test('the GSM alphabet goes to bytes and back, its table being the one of TS 23.038', () => {
  expect(toGsm7('@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !').toString('hex')).toBe(
    '000102030405060708090a0b0c0d0e0f101112131415161718191a1c1d1e1f2021',
  );
  expect(toGsm7('€[]{}\\~^|\f').toString('hex')).toBe('1b651b3c1b3e1b281b291b2f1b3d1b141b401b0a');
  expect(toGsm7('¡Ä§¿à').toString('hex')).toBe('405b5f607f');
  const all = Buffer.from(Array.from({ length: 0x80 }, (_, index) => index).filter((one) => one !== 0x1b));
  expect(toGsm7(fromGsm7(all))).toEqual(all);
  // An escape at the end, and one before a septet that has no second meaning.
  expect(fromGsm7(Buffer.from([0x41, 0x1b]))).toBe('A\u00a0');
  expect(fromGsm7(Buffer.from([0x1b, 0x41]))).toBe('A');
  expect(() => toGsm7('ő')).toThrow(RangeError);
});

test('an escape at the end of a part is read with the first septet of the next part', () => {
  const joined = (...parts: string[]) =>
    joinParts(parts.map((part) => fromGsm7(Buffer.from(part, 'hex'), { isPart: true })));
  expect(joined('411b', '6541')).toBe('A€A');
  expect(joined('1b', '3c')).toBe('[');
  // The next septet has no second meaning, is an escape as well, or is missing.
  expect(joined('411b', '41')).toBe('AA');
  expect(joined('411b', '1b', '41')).toBe('A\u00a0A');
  expect(joined('411b')).toBe('A\u00a0');
});

/** Returns the bytes of a part on the network: a septet takes 7 bits, and text after a header begins on a septet. */
function bytesOnAir({ message, dataCoding, hasHeader, tlvs }: EncodedPart): number {
  // With SAR tags the carrier writes the header (6 bytes); a payload is cut by the carrier.
  const ofCarrier = tlvs.has(tags.sarTotalSegments) ? 6 : 0;
  const header = hasHeader ? 1 + message[0]! : ofCarrier;
  const units = message.length - (hasHeader ? header : 0);
  return dataCoding === 8 ? header + units : Math.ceil((Math.ceil((8 * header) / 7) * 7 + 7 * units) / 8);
}

test('texts of 1, 2 and 10 parts come back whole in each form, with a character of two units across a boundary', () => {
  const texts = [
    'Hello',
    '€'.repeat(100),
    'a'.repeat(152) + '€' + 'b'.repeat(20),
    'x'.repeat(153 * 2),
    'x'.repeat(153 * 10),
    'я'.repeat(67 * 3),
    `${'ä'.repeat(3)}ő`,
    `${'я'.repeat(66)}😀${'я'.repeat(20)}`,
    '😀'.repeat(33 * 10),
  ];
  for (const form of longForms)
    for (const content of texts) {
      const parts = encodeText(content, { form, reference: 0xabcd, gsmCoding: 0 });
      if (form === 'udh' || form === 'sar') expect(parts).toHaveLength(partsOf(content).parts.length);
      for (const part of parts) expect(bytesOnAir(part)).toBeLessThanOrEqual(140);
      const decoded = parts.map(({ hasHeader, ...part }) =>
        decodeText(
          decodeShortMessage(encodeShortMessage(shortMessage({ ...part, esmClass: hasHeader ? 0x40 : 0 }))),
          'gsm7',
        ),
      );
      expect(decoded.map((one) => one.content).join('')).toBe(content);
      if (parts.length > 1)
        expect(decoded.map(({ place }) => place)).toEqual(
          parts.map((_, index) => ({
            reference: form === 'udh' ? 0xcd : 0xabcd,
            total: parts.length,
            part: index + 1,
          })),
        );
    }
});

test('receipts are read in each form that carriers use', () => {
  const textual = (message: string) => shortMessage({ esmClass: 4, message: Buffer.from(message) });
  const whole =
    'id:000000000A1B sub:001 dlvrd:001 submit date:2611240900 done date:2611240901 stat:DELIVRD err:000 text:Hi';
  expect(readReceipt(textual(whole), 'text')).toEqual({ reference: 'a1b', state: 'delivered', reason: null });
  expect(readReceipt(textual(whole), 'hex')).toMatchObject({ reference: '2587' });
  expect(readReceipt(textual('ID: 2587 STAT: undeliv ERR: 01B'), 'decimal')).toEqual({
    reference: '2587',
    state: 'failed',
    reason: {
      category: 'undeliverable',
      code: 'undeliverable',
      description: 'The message could not be delivered (network error 01B)',
      retryable: false,
    },
  });
  const byWord = ['EXPIRED', 'DELETED', 'UNDELIVERABLE', 'ACCEPTD', 'UNKNOWN', 'REJECTD', 'ENROUTE', 'ODD'];
  expect(byWord.map((word) => readReceipt(textual(`id:1 stat:${word}`), 'text')?.state)).toEqual([
    'failed',
    'failed',
    'failed',
    'pending',
    'failed',
    'failed',
    'pending',
    'failed',
  ]);
  const tlvs = new Map([
    [tags.receiptedMessageId, Buffer.from('A1B\0')],
    [tags.messageState, Buffer.from([5])],
    [tags.networkErrorCode, Buffer.from([3, 0, 27])],
  ]);
  const byParameters = shortMessage({ message: Buffer.alloc(0), tlvs });
  expect(isReceipt(byParameters)).toBe(true);
  expect(readReceipt(byParameters, 'text')).toMatchObject({
    reference: 'a1b',
    state: 'failed',
    reason: { description: 'The message could not be delivered (network error 27)' },
  });
  // An intermediate notification says how far the message is, and the final receipt follows it.
  for (const [state, expected] of [
    [5, 'pending'],
    [2, 'delivered'],
  ] as const) {
    const interim = shortMessage({
      esmClass: 0x20,
      message: Buffer.alloc(0),
      tlvs: new Map([...tlvs, [tags.messageState, Buffer.from([state])]]),
    });
    expect([isReceipt(interim), readReceipt(interim, 'text')]).toMatchObject([true, { state: expected }]);
  }
  expect(readReceipt(textual('stat:DELIVRD'), 'text')).toBeNull();
  expect(readReceipt(textual('id:5'), 'text')).toBeNull();
  expect(isReceipt(shortMessage())).toBe(false);
  expect(canonicalId('not hex', 'hex')).toBe('not hex');
  expect(canonicalId('000', 'text')).toBe('0');
  expect(canonicalId('0002587', 'decimal')).toBe('2587');
});

test('each command_status has its outcome', () => {
  const kinds = Object.groupBy(
    Array.from({ length: 0x100 }, (_, index) => index + 1),
    (status) => outcomeOf(status).kind,
  );
  expect(kinds.later).toEqual([0x04, 0x05, 0x0d, 0x0e, 0x0f, 0x14, 0x53, 0x58, 0x64]);
  expect(kinds.unavailable).toEqual([0x08, 0xff]);
  expect(outcomeOf(0x0b)).toEqual({
    kind: 'refused',
    code: 'esme_rinvdstadr',
    retryable: false,
    detail: 'The gateway answered ESME_RINVDSTADR (0x0b): the recipient is invalid',
  });
  expect(outcomeOf(0x401)).toMatchObject({ kind: 'refused', code: 'smpp_401' });
});

/**
 * The messages of SMPP 3.4 that a client needs, as bytes and as values. Section numbers are those of its specification.
 */

/** §5.1.2.1; an answer has the highest bit set. */
export const commands = {
  generic_nack: 0x80000000,
  bind_transmitter: 0x00000002,
  bind_transmitter_resp: 0x80000002,
  submit_sm: 0x00000004,
  submit_sm_resp: 0x80000004,
  deliver_sm: 0x00000005,
  deliver_sm_resp: 0x80000005,
  unbind: 0x00000006,
  unbind_resp: 0x80000006,
  bind_transceiver: 0x00000009,
  bind_transceiver_resp: 0x80000009,
  enquire_link: 0x00000015,
  enquire_link_resp: 0x80000015,
  alert_notification: 0x00000102,
} as const;
export type CommandName = keyof typeof commands;

/** §5.3.2: the optional parameters that are used here. */
export const tags = {
  receiptedMessageId: 0x001e,
  sarMessageReference: 0x020c,
  sarTotalSegments: 0x020e,
  sarSegmentNumber: 0x020f,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

export type Header = { id: number; status: number; sequence: number };
export type Pdu = Header & { body: Buffer };
export type Tlvs = Map<number, Buffer>;

type SmppAddress = { ton: number; npi: number; address: string };

/** The type of a number that is written without the code of its country (§5.2.5). */
export const national = 2;

/** §5.2.5 and §5.2.6: a number in E.164 is international, in the plan of telephones; a name is alphanumeric, in none. */
export function addressOf(text: string): SmppAddress {
  return /^\+\d+$/.test(text)
    ? { ton: 1, npi: 1, address: text.slice(1) }
    : { ton: 5, npi: 0, address: text };
}

/** The body of submit_sm and deliver_sm (§4.4.1, §4.6.1), without the fields that no client here uses. */
export type ShortMessage = {
  source: SmppAddress;
  destination: SmppAddress;
  esmClass: number;
  validityPeriod: string;
  registeredDelivery: number;
  dataCoding: number;
  message: Buffer;
  tlvs: Tlvs;
};

export type Bind = { systemId: string; password: string; systemType: string };

const headerBytes = 16;
const tlvHeaderBytes = 4;
const version34 = 0x34;

/** Bytes that are no PDU of their kind. */
export class PduFault extends Error {}

/** The number of the answer to a command. */
export const answerTo = (id: number): number => (id | 0x80000000) >>> 0;
export const isAnswer = (id: number): boolean => id >= 0x80000000;

export function encodePdu({ id, status, sequence, body }: Omit<Pdu, 'body'> & { body?: Buffer }): Buffer {
  const pdu = Buffer.alloc(headerBytes + (body?.length ?? 0));
  pdu.writeUInt32BE(pdu.length, 0);
  pdu.writeUInt32BE(id, 4);
  pdu.writeUInt32BE(status, 8);
  pdu.writeUInt32BE(sequence, 12);
  body?.copy(pdu, headerBytes);
  return pdu;
}

/** Decodes a whole PDU, whose length has been checked. */
export function decodePdu(bytes: Buffer): Pdu {
  return {
    id: bytes.readUInt32BE(4),
    status: bytes.readUInt32BE(8),
    sequence: bytes.readUInt32BE(12),
    body: bytes.subarray(headerBytes),
  };
}

export function encodeBind({ systemId, password, systemType }: Bind): Buffer {
  return Buffer.concat([
    text(systemId),
    text(password),
    text(systemType),
    Buffer.from([version34, 0, 0]),
    text(''),
  ]);
}

export function decodeBind(body: Buffer): Bind {
  const reader = new Reader(body);
  return { systemId: reader.text(), password: reader.text(), systemType: reader.text() };
}

export function encodeShortMessage(message: ShortMessage): Buffer {
  const { source, destination } = message;
  if (message.message.length > 254) throw new PduFault('A short message has at most 254 bytes');
  return Buffer.concat([
    text(''),
    Buffer.from([source.ton, source.npi]),
    text(source.address),
    Buffer.from([destination.ton, destination.npi]),
    text(destination.address),
    Buffer.from([message.esmClass, 0, 0]),
    text(''),
    text(message.validityPeriod),
    Buffer.from([message.registeredDelivery, 0, message.dataCoding, 0, message.message.length]),
    message.message,
    ...[...message.tlvs].map(([tag, value]) => tlv(tag, value)),
  ]);
}

/** Throws a PduFault for a body that ends too soon. Bytes after the last whole optional parameter are left alone. */
export function decodeShortMessage(body: Buffer): ShortMessage {
  const reader = new Reader(body);
  reader.text();
  const source = reader.address();
  const destination = reader.address();
  const esmClass = reader.byte();
  reader.byte();
  reader.byte();
  reader.text();
  const validityPeriod = reader.text();
  const registeredDelivery = reader.byte();
  reader.byte();
  const dataCoding = reader.byte();
  reader.byte();
  const message = reader.bytes(reader.byte());
  return {
    source,
    destination,
    esmClass,
    validityPeriod,
    registeredDelivery,
    dataCoding,
    message,
    tlvs: reader.tlvs(),
  };
}

/**
 * Returns the text at the start of a body, such as a bind answer or submit_sm_resp. Some carriers leave out this
 * text, or its final NUL, when the status is a fault.
 */
export function firstText(body: Buffer): string {
  const end = body.indexOf(0);
  return body.toString('latin1', 0, end === -1 ? body.length : end);
}

/** Returns a text with its final NUL, as bodies hold it. */
export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'latin1');
}

function tlv(tag: number, value: Buffer): Buffer {
  const header = Buffer.alloc(tlvHeaderBytes);
  header.writeUInt16BE(tag, 0);
  header.writeUInt16BE(value.length, 2);
  return Buffer.concat([header, value]);
}

class Reader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  byte(): number {
    return this.bytes(1)[0]!;
  }

  bytes(count: number): Buffer {
    if (this.#at + count > this.#body.length) throw new PduFault('A PDU ends too soon');
    this.#at += count;
    return this.#body.subarray(this.#at - count, this.#at);
  }

  text(): string {
    const end = this.#body.indexOf(0, this.#at);
    if (end === -1) throw new PduFault('A text in a PDU has no end');
    const value = this.#body.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return value;
  }

  address(): SmppAddress {
    return { ton: this.byte(), npi: this.byte(), address: this.text() };
  }

  tlvs(): Tlvs {
    const found: Tlvs = new Map();
    while (this.#at + tlvHeaderBytes <= this.#body.length) {
      const tag = this.#body.readUInt16BE(this.#at);
      const length = this.#body.readUInt16BE(this.#at + 2);
      this.#at += tlvHeaderBytes;
      if (this.#at + length > this.#body.length) break;
      found.set(tag, this.bytes(length));
    }
    return found;
  }
}

/** Returns a relative validity period (§7.1.1). */
export function validity(hours: number | undefined): string {
  if (hours === undefined) return '';
  const [days, rest] = [Math.floor(hours / 24), hours % 24];
  return `0000${String(days).padStart(2, '0')}${String(rest).padStart(2, '0')}0000000R`;
}

import net from 'node:net';
import { frameReader } from '../../../shared/transports/sms/smpp/frames.ts';
import {
  answerTo,
  commands,
  decodeBind,
  decodePdu,
  decodeShortMessage,
  encodePdu,
  encodeShortMessage,
  type Pdu,
  type ShortMessage,
  text,
} from '../../../shared/transports/sms/smpp/pdu.ts';
import { listenOn, serve } from '../serve.ts';
import { type Latency, latencyOf } from '../statistics.ts';

/** A carrier that takes every text and reports it as delivered, and keeps nothing but counts. */

export interface TakenTexts {
  texts: number;
  /** Numbers that got more than one. */
  repeated: number;
  delivered: number;
}
/** Texts whose content says when they were requested: `at-{milliseconds}-…`. */
export interface TimedTexts extends Latency {
  count: number;
}

/** Receipts that may be without their answer on one connection. */
const receiptWindow = 50;
/** The delay of a receipt. A real phone takes longer, which would add a tail to the measurement. */
const receiptAfterMs = 100;
const pollEveryMs = 5;
let counts: TakenTexts = { texts: 0, repeated: 0, delivered: 0 };
let numbers = new Set<string>();
let latencies: number[] = [];
let silent = new Set<string>();
let lastId = 0;

function note(message: ShortMessage): void {
  const content = message.message.toString('latin1');
  if (content.startsWith('at-')) {
    latencies.push(performance.timeOrigin + performance.now() - Number(content.split('-')[1]));
    return;
  }
  counts.texts += 1;
  const { address } = message.destination;
  if (numbers.has(address)) counts.repeated += 1;
  numbers.add(address);
}

function converse(socket: net.Socket): void {
  const read = frameReader();
  const waiting: { receipt: ShortMessage; at: number }[] = [];
  const out = new Map<number, ShortMessage>();
  let sequence = 0;
  let name = '';

  const answer = (pdu: Pdu, body?: Buffer) =>
    encodePdu({ id: answerTo(pdu.id), status: 0, sequence: pdu.sequence, ...(body && { body }) });

  /** The next receipts, as far as the window has room. */
  function receipts(): Buffer[] {
    const pdus: Buffer[] = [];
    const time = performance.now();
    while (out.size < receiptWindow && waiting.length > 0 && waiting[0]!.at <= time) {
      const { receipt } = waiting.shift()!;
      sequence += 1;
      out.set(sequence, receipt);
      pdus.push(
        encodePdu({ id: commands.deliver_sm, status: 0, sequence, body: encodeShortMessage(receipt) }),
      );
    }
    return pdus;
  }

  function take(pdu: Pdu): Buffer[] {
    switch (pdu.id) {
      case commands.bind_transceiver:
      case commands.bind_transmitter:
        name = decodeBind(pdu.body).systemId;
        return [answer(pdu, text('bench'))];
      case commands.submit_sm: {
        const message = decodeShortMessage(pdu.body);
        if (silent.has(name)) return [];
        note(message);
        lastId += 1;
        const id = `m${lastId}`;
        if (message.registeredDelivery === 1)
          waiting.push({ receipt: receiptOf(message, id), at: performance.now() + receiptAfterMs });
        return [answer(pdu, text(id))];
      }
      case commands.deliver_sm_resp: {
        const receipt = out.get(pdu.sequence);
        out.delete(pdu.sequence);
        if (receipt && pdu.status !== 0) waiting.push({ receipt, at: performance.now() });
        else counts.delivered += 1;
        return receipts();
      }
      case commands.enquire_link:
      case commands.unbind:
        return [answer(pdu)];
      default:
        return [];
    }
  }

  socket.on('data', (piece) => {
    const answers = read(piece).flatMap((frame) => take(decodePdu(frame)));
    if (answers.length > 0) socket.write(Buffer.concat(answers));
  });
  const polling = setInterval(() => {
    const pdus = receipts();
    if (pdus.length > 0) socket.write(Buffer.concat(pdus));
  }, pollEveryMs);
  socket.on('error', () => undefined);
  socket.on('close', () => clearInterval(polling));
}

function receiptOf({ source, destination }: ShortMessage, id: string): ShortMessage {
  return {
    source: destination,
    destination: source,
    esmClass: 4,
    validityPeriod: '',
    registeredDelivery: 0,
    dataCoding: 0,
    message: Buffer.from(
      `id:${id} sub:001 dlvrd:001 submit date:2611240900 done date:2611240901 stat:DELIVRD err:000 text:`,
    ),
    tlvs: new Map(),
  };
}

const server = net.createServer({ noDelay: true }, converse);

serve({
  listen: () => listenOn(server),
  /** `silent`: the system ids whose texts get no answer from now on. */
  reset: (names: string[] = []) => {
    counts = { texts: 0, repeated: 0, delivered: 0 };
    numbers = new Set();
    latencies = [];
    silent = new Set(names);
  },
  taken: () => counts,
  timed: (): TimedTexts => ({ count: latencies.length, ...latencyOf(latencies) }),
});

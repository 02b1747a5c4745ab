import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { frameReader } from '../../../shared/transports/sms/smpp/frames.ts';
import {
  answerTo,
  type Bind,
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
import { atEnd } from '../runner/at-end.ts';
import { waitFor } from '../time/wait-for.ts';
import type { Certificate } from './certificate.ts';

/** The reaction of the carrier to a submit_sm: an answer, or none. */
type Answer = { status?: number; id?: string } | 'silence' | 'cut';

/** Breaks a connection. Node cannot reset a TLS connection, so that one is only destroyed. */
function reset(socket: net.Socket): void {
  if (socket instanceof tls.TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Plays a carrier's SMSC on a real socket. Its own messages can be written in pieces of any size. */
export async function startSmsc({
  certificate,
  keepsHalf = false,
  port = 0,
}: {
  certificate?: Certificate;
  /** Keeps its half of a connection open when the other side closes its own. */
  keepsHalf?: boolean;
  /** The port of a carrier that has been closed, to play its return. */
  port?: number;
} = {}) {
  const sockets = new Set<net.Socket>();
  const smsc = {
    port: 0,
    binds: [] as (Bind & { id: number })[],
    taken: [] as ShortMessage[],
    /** The connection on which each of these came, as the number of its bind from 1 on. */
    takenOn: [] as number[],
    /** Sequence of a PDU that the carrier sent -> our answer to it. */
    answers: new Map<number, Pdu>(),
    /** Hears of each of these answers at once. */
    onAnswer: (_answer: Pdu): void => undefined,
    enquiries: 0,
    unbinds: 0,
    bindStatus: 0,
    /** The answer to a bind waits for `beforeBind`, and the answer to an unbind for `beforeUnbind`. */
    beforeBind: Promise.resolve() as Promise<unknown>,
    beforeUnbind: Promise.resolve() as Promise<unknown>,
    /** Bytes that are written together with the answer to a bind. */
    behindBind: Buffer.alloc(0) as Buffer,
    answersEnquiries: true,
    /** Whether all received data is ignored, as on a connection that is cut in one direction. */
    isDeaf: false,
    pieceBytes: Number.POSITIVE_INFINITY,
    submit: (_message: ShortMessage, count: number): Answer | Promise<Answer> => ({ id: `m${count}` }),
    connections: () => sockets.size,
    /** Sends a receipt or a text to the newest session, and returns its sequence. */
    deliver(message: Partial<ShortMessage>): number {
      sequence += 1;
      const body = encodeShortMessage({
        source: { ton: 1, npi: 1, address: '447400000001' },
        destination: { ton: 1, npi: 1, address: '447400000002' },
        esmClass: 0,
        validityPeriod: '',
        registeredDelivery: 0,
        dataCoding: 0,
        message: Buffer.alloc(0),
        tlvs: new Map(),
        ...message,
      });
      smsc.write(encodePdu({ id: commands.deliver_sm, status: 0, sequence, body }));
      return sequence;
    },
    /** Waits for our answer to the deliver_sm with this sequence, and returns its status. */
    answerOf: async (own: number): Promise<number> =>
      (await waitFor(`deliver_sm ${own} is answered`, () => smsc.answers.get(own))).status,
    /** Asks by enquire_link some times. With the last answer the carrier has read all that we wrote before. */
    async roundTrips(): Promise<void> {
      for (let left = 3; left > 0; left -= 1) {
        sequence += 1;
        smsc.write(encodePdu({ id: commands.enquire_link, status: 0, sequence }));
        await smsc.answerOf(sequence);
      }
    },
    write(bytes: Buffer): void {
      const socket = [...sockets].at(-1);
      if (!socket) throw new Error('Nobody is connected');
      send(socket, bytes);
    },
    /** Reads nothing more, so that what we write waits: first in the system's buffers, then in our process. */
    stopReading(): void {
      for (const socket of sockets) socket.pause();
    },
    cutNewest(): void {
      reset([...sockets].at(-1)!);
    },
    cut(): void {
      for (const socket of sockets) reset(socket);
    },
    close(): void {
      server.close();
      smsc.cut();
    },
  };
  let sequence = 0;
  const bindNumbers = new WeakMap<net.Socket, number>();

  function send(socket: net.Socket, bytes: Buffer): void {
    const { pieceBytes } = smsc;
    if (pieceBytes >= bytes.length) return void socket.write(bytes);
    for (let at = 0; at < bytes.length; at += pieceBytes) socket.write(bytes.subarray(at, at + pieceBytes));
  }

  function take(socket: net.Socket, pdu: Pdu): void {
    const answer = (status: number, body?: Buffer, behind: Buffer = Buffer.alloc(0)) => {
      const own = encodePdu({ id: answerTo(pdu.id), status, sequence: pdu.sequence, ...(body && { body }) });
      send(socket, Buffer.concat([own, behind]));
    };
    switch (pdu.id) {
      case commands.bind_transceiver:
      case commands.bind_transmitter:
        bindNumbers.set(socket, smsc.binds.length + 1);
        smsc.binds.push({ ...decodeBind(pdu.body), id: pdu.id });
        return void smsc.beforeBind.then(() => answer(smsc.bindStatus, text('smsc'), smsc.behindBind));
      case commands.enquire_link:
        smsc.enquiries += 1;
        return smsc.answersEnquiries ? answer(0) : undefined;
      case commands.unbind:
        smsc.unbinds += 1;
        return void smsc.beforeUnbind.then(() => {
          answer(0);
          socket.end();
        });
      case commands.submit_sm: {
        const message = decodeShortMessage(pdu.body);
        smsc.taken.push(message);
        smsc.takenOn.push(bindNumbers.get(socket)!);
        const say = (given: Answer) => {
          if (given === 'silence') return;
          if (given === 'cut') return reset(socket);
          answer(given.status ?? 0, given.id === undefined ? undefined : text(given.id));
        };
        const given = smsc.submit(message, smsc.taken.length);
        return given instanceof Promise ? void given.then(say) : say(given);
      }
      default:
        smsc.answers.set(pdu.sequence, pdu);
        smsc.onAnswer(pdu);
    }
  }

  function accept(socket: net.Socket): void {
    sockets.add(socket);
    socket.setNoDelay(true);
    const read = frameReader();
    socket.on('data', (piece) => {
      if (smsc.isDeaf) return;
      for (const frame of read(piece)) take(socket, decodePdu(frame));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  }

  const server = certificate
    ? tls.createServer(certificate, accept)
    : net.createServer({ allowHalfOpen: keepsHalf }, accept);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  smsc.port = (server.address() as AddressInfo).port;
  atEnd(() => smsc.close());
  return smsc;
}

export type Smsc = Awaited<ReturnType<typeof startSmsc>>;

import { setTimeout as sleep } from 'node:timers/promises';
import type { Acknowledgement, TextMessage } from '../gateway.ts';
import { createWindow } from '../window.ts';
import { connect } from './connect.ts';
import { frameReader } from './frames.ts';
import {
  answerTo,
  type CommandName,
  commands,
  decodePdu,
  decodeShortMessage,
  encodeBind,
  encodePdu,
  encodeShortMessage,
  isAnswer,
  type Pdu,
  type ShortMessage,
  text,
} from './pdu.ts';
import { BindRefused, statuses } from './statuses.ts';
import { unreadAcknowledgements } from './unread.ts';

export type SessionOptions = {
  host: string;
  port: number;
  isTls: boolean;
  /** Trusted certificates in PEM, in addition to Node's own. */
  ca?: string | undefined;
  systemId: string;
  password: string;
  systemType: string;
  /** A transmitter gets no receipts and no texts. */
  bind: 'transceiver' | 'transmitter';
  /** Messages that may be without their answer at a time. */
  window: number;
  /** How long an answer may take; also counts for the answer to the bind. */
  responseMs: number;
  /**
   * After this time without data from the carrier, enquire_link asks whether it is there; also where it may not have
   * read our last answers.
   */
  enquireMs: number;
  /** Resolves with the status of our answer, once the message is stored. */
  onDeliver: (message: ShortMessage) => Promise<{ status: number; acknowledgement?: Acknowledgement }>;
  /** Hears of the messages that the session refuses without `onDeliver`. */
  notTaken: { unread: (what: 'message', detail: string) => void; flood: () => void };
  /** Called once, as soon as the session is of no more use. */
  onClosed: (reason: string) => void;
};

/**
 * The outcome of a request that was written to the connection, so the carrier may have it. `isLost`: the connection ended
 * before the answer.
 */
type Replied =
  | { kind: 'answered'; status: number; body: Buffer }
  | { kind: 'unanswered'; detail: string; isLost?: true };
/** The outcome of a message that was to be submitted. */
export type Submitted = Replied | { kind: 'unsent'; detail: string };

export type Session = {
  /** `started`: called once the message need wait no longer. */
  submit: (
    message: ShortMessage,
    longestWaitMs: number,
    lane?: TextMessage['lane'],
    started?: () => unknown,
  ) => Promise<Submitted>;
  /** Messages without their answer; `load`: and those that wait for a place. */
  inUse: () => number;
  load: () => number;
  /** Whether messages are under way of which none has had an answer lately. */
  isSilent: () => boolean;
  /** Returns the reason why the session takes no more messages; null while it takes them. */
  ended: () => string | null;
  /** Waits for the answers under way, at most `drainMs`, then sends unbind. */
  close: (drainMs: number) => Promise<void>;
};

const isBindAnswer = (id: number) =>
  id === commands.bind_transceiver_resp || id === commands.bind_transmitter_resp;

/**
 * Messages of the carrier that are handled at a time. More are refused for now, so that a flood takes neither the
 * memory nor all connections to the database.
 */
const mostDeliversInProgress = 200;
/** The most bytes that may wait for a carrier that does not read its connection. */
const mostUnreadBytes = 1024 * 1024;
const goodbyeMs = 2_000;

/**
 * Opens a session. Resolves when the carrier has accepted the bind; rejects with BindRefused, or with the error of
 * the connection.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const socket = await connect(options);
  /** The requests without their answer, by their sequence numbers. */
  const pending = new Map<number, { askedAt: number; settle: (result: Replied) => void }>();
  const window = createWindow(options.window);
  const answers = new Set<Promise<void>>();
  const unread = unreadAcknowledgements();
  const read = frameReader();
  let sequence = 0;
  let heardAt = performance.now();
  let enquiredAt = heardAt;
  let isEnquiring = false;
  let closing: string | null = null;
  let isBound = false;
  const closed = Promise.withResolvers<void>();

  function nextSequence(): number {
    // §3.2: 1 to 0x7fffffff.
    do sequence = sequence === 0x7fffffff ? 1 : sequence + 1;
    while (pending.has(sequence));
    return sequence;
  }

  function request(command: CommandName, body?: Buffer, longestMs = options.responseMs) {
    const { promise, resolve } = Promise.withResolvers<Replied>();
    const own = nextSequence();
    const askedAt = performance.now();
    const before = unread.last();
    const settle = (result: Replied) => {
      clearTimeout(timer);
      pending.delete(own);
      if (result.kind === 'answered') unread.readUpTo(before);
      resolve(result);
    };
    const timer = setTimeout(() => {
      settle({ kind: 'unanswered', detail: `no answer to ${command} within ${longestMs / 1000} s` });
      // The cause may be this message alone, and others use the session too.
      if (command === 'submit_sm' && heardAt < askedAt) enquire();
    }, longestMs);
    pending.set(own, { askedAt, settle });
    write({ id: commands[command], status: 0, sequence: own, ...(body && { body }) });
    return promise;
  }

  /** Asks the carrier whether it is there. Nobody is, if nothing at all has come from it when the answer is due. */
  function enquire(): void {
    if (isEnquiring) return;
    isEnquiring = true;
    enquiredAt = performance.now();
    void request('enquire_link').then(({ kind }) => {
      isEnquiring = false;
      if (kind === 'unanswered' && heardAt < enquiredAt)
        socket.destroy(new Error('the carrier does not answer enquire_link'));
    });
  }

  function write(pdu: Parameters<typeof encodePdu>[0], written?: () => void): void {
    if (!socket.writable) return;
    if (socket.writableLength > mostUnreadBytes)
      return void socket.destroy(new Error('the carrier does not read its line'));
    // All PDUs of one tick go out in one write.
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    socket.write(encodePdu(pdu), (error) => {
      if (!error) written?.();
    });
  }

  function take(pdu: Pdu): void {
    if (isAnswer(pdu.id)) {
      const asked = pending.get(pdu.sequence);
      if (pdu.id === commands.submit_sm_resp)
        window.noteAnswer(asked ? performance.now() - asked.askedAt : options.responseMs);
      const { status, body } = pdu;
      // Set at once, because texts may follow the answer in the same segment.
      if (isBindAnswer(pdu.id) && status === 0 && asked) isBound = true;
      // A generic_nack names a command that the carrier could not read, so the carrier has not taken it.
      asked?.settle({
        kind: 'answered',
        status: pdu.id === commands.generic_nack && status === 0 ? statuses.invalidCommandId : status,
        body,
      });
      return;
    }
    const answer = { id: answerTo(pdu.id), status: statuses.ok, sequence: pdu.sequence };
    if (pdu.id === commands.enquire_link) return write(answer);
    if (pdu.id === commands.unbind) {
      write(answer);
      socket.end();
      // The carrier may leave the connection open.
      setTimeout(() => socket.destroy(), goodbyeMs).unref();
      return end('the carrier ended the session');
    }
    // §4.12.1: it has no answer.
    if (pdu.id === commands.alert_notification) return;
    if (pdu.id !== commands.deliver_sm)
      return write({ ...answer, id: commands.generic_nack, status: statuses.invalidCommandId });
    const handled = deliver(pdu).finally(() => answers.delete(handled));
    answers.add(handled);
  }

  async function deliver(pdu: Pdu): Promise<void> {
    const answer = { id: commands.deliver_sm_resp, sequence: pdu.sequence, body: text('') };
    if (!isBound || answers.size >= mostDeliversInProgress) {
      if (isBound) options.notTaken.flood();
      return write({ ...answer, status: statuses.temporaryFault });
    }
    let message: ShortMessage;
    try {
      message = decodeShortMessage(pdu.body);
    } catch (error) {
      options.notTaken.unread('message', (error as Error).message);
      return write({ ...answer, status: statuses.permanentFault });
    }
    try {
      const { status, acknowledgement } = await options.onDeliver(message);
      write({ ...answer, status }, acknowledgement && unread.add(acknowledgement));
    } catch {
      write({ ...answer, status: statuses.temporaryFault });
    }
  }

  /** Ends the session: it sends no more messages. */
  function end(detail: string): void {
    const reason = (closing ??= detail);
    window.refuseAll(reason);
    if (!isBound) return;
    isBound = false;
    options.onClosed(reason);
  }

  /**
   * Finds a connection that was cut without notice: the carrier has been quiet for long, or may not have read our last
   * answers. It looks four times in each period, so that it asks before a carrier closes a quiet connection.
   */
  const enquiring = setInterval(() => {
    const isPast = (at: number) => performance.now() - at >= options.enquireMs;
    if (isBound && isPast(enquiredAt) && (isPast(heardAt) || !unread.isEmpty())) enquire();
  }, options.enquireMs / 4).unref();

  socket.on('data', (piece: Buffer) => {
    heardAt = performance.now();
    try {
      for (const frame of read(piece)) take(decodePdu(frame));
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  socket.on('error', (error) => {
    closing ??= error.message;
  });
  socket.on('close', () => {
    clearInterval(enquiring);
    unread.end();
    end('the carrier closed the line');
    for (const { settle } of pending.values()) settle({ kind: 'unanswered', detail: closing!, isLost: true });
    closed.resolve();
  });

  const bind = await request(
    options.bind === 'transceiver' ? 'bind_transceiver' : 'bind_transmitter',
    encodeBind(options),
  );
  if (bind.kind === 'unanswered' || bind.status !== 0) {
    socket.destroy();
    await closed.promise;
    throw bind.kind === 'answered' ? new BindRefused(bind.status) : new Error(bind.detail);
  }

  return {
    ended: () => closing,
    inUse: window.inUse,
    load: window.load,
    isSilent: window.isSilent,
    submit: async (message, longestWaitMs, lane, started) => {
      const detail = closing ?? (await window.take(longestWaitMs, lane));
      if (detail !== null) return { kind: 'unsent', detail };
      started?.();
      try {
        return socket.writable
          ? await request('submit_sm', encodeShortMessage(message))
          : { kind: 'unsent', detail: closing ?? 'the line is closed' };
      } finally {
        window.release();
      }
    },
    close: async (drainMs) => {
      if (closing !== null) return closed.promise;
      closing = 'this process is closing';
      window.refuseAll(closing);
      const end = performance.now() + drainMs;
      while ((window.inUse() > 0 || answers.size > 0) && performance.now() < end && !socket.destroyed)
        await sleep(10);
      if (!socket.destroyed) {
        await request('unbind', undefined, goodbyeMs);
        socket.end();
        const timer = setTimeout(() => socket.destroy(), goodbyeMs);
        await closed.promise;
        clearTimeout(timer);
      }
    },
  };
}

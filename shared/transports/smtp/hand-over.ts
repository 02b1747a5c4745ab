import type { SmtpStage } from '../../formats/email/smtp-reply.ts';
import type { EmailLane } from '../../schemas/lanes.ts';

/** A message that is built while it is sent. It may be opened several times and gives the same bytes each time. */
export type StreamedMessage = { sizeBytes: number; open: () => AsyncIterable<Buffer> };

export type HandOver = {
  envelopeFrom: string;
  envelopeTo: string;
  message: Buffer | StreamedMessage;
  /** Ask for a delivery status notification of success, failure and delay, where the relay offers them (RFC 3461). */
  requestDsn?: boolean;
  /** Decides who goes first when connections are scarce. */
  lane?: EmailLane;
  /** The workspace whose share of the connections the email takes. */
  owner?: string;
};

export type TransportFaultReason = 'dns' | 'connection' | 'greeting' | 'tls' | 'login' | 'timeout';

export type HandOverResult =
  | { kind: 'accepted'; reply: string }
  /** An answer of the relay about this message. */
  | { kind: 'refused'; stage: SmtpStage; code: number; enhanced: string | null; reply: string }
  /**
   * The relay cannot be used; the message was surely not taken. `at`: whether there was no session, or the relay had
   * greeted us and then fell silent or broke off at the message.
   */
  | {
      kind: 'transport_fault';
      at: 'session' | 'message';
      reason: TransportFaultReason;
      detail: string;
    }
  /** The hand-over was not begun, because no connection of ours came free in time. */
  | { kind: 'busy'; detail: string }
  /** The message could not be read to its end. The relay has surely not taken it, and has no part in this fault. */
  | { kind: 'unread'; detail: string }
  /** The end of the message was written and no answer was seen: it may have been taken (RFC 1047). */
  | { kind: 'uncertain'; detail: string };

export function sizeOf(message: HandOver['message']): number {
  return Buffer.isBuffer(message) ? message.length : message.sizeBytes;
}

/**
 * Throws for an address that parseMailbox cannot have made: it would be a fault of ours, and could name a second
 * recipient.
 */
export function checkHandOver({ envelopeFrom, envelopeTo, message }: HandOver): void {
  if (!/^([\x21-\x7e]+@[\x21-\x7e]+)?$/.test(envelopeFrom) || !/^[\x21-\x7e]+@[\x21-\x7e]+$/.test(envelopeTo))
    throw new TypeError('Not an envelope address');
  if (/[<>]/.test(envelopeFrom + envelopeTo)) throw new TypeError('Not an envelope address');
  if (sizeOf(message) === 0) throw new TypeError('The message is empty');
}

export class TransportFault extends Error {
  readonly reason: TransportFaultReason;
  constructor(reason: TransportFaultReason, detail: string) {
    super(detail);
    this.name = 'TransportFault';
    this.reason = reason;
  }
}

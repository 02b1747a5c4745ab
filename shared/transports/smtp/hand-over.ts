import type { SmtpStage } from '../../formats/smtp-reply.ts';

export type HandOver = {
  envelopeFrom: string;
  envelopeTo: string;
  message: Buffer;
  /** Ask for a delivery status notification of success, failure and delay, where the relay offers them (RFC 3461). */
  requestDsn?: boolean;
};

export type TransportFaultReason = 'dns' | 'connection' | 'greeting' | 'tls' | 'login' | 'timeout';

export type HandOverResult =
  | { kind: 'accepted'; reply: string }
  /** An answer of the relay about this message. */
  | { kind: 'refused'; stage: SmtpStage; code: number; enhanced: string | null; reply: string }
  /** The relay cannot be used; the message was surely not taken. */
  | { kind: 'transport_fault'; reason: TransportFaultReason; detail: string }
  /** The end of the message was written and no answer was seen: it may have been taken (RFC 1047). */
  | { kind: 'uncertain'; detail: string };

export class TransportFault extends Error {
  readonly reason: TransportFaultReason;
  constructor(reason: TransportFaultReason, detail: string) {
    super(detail);
    this.name = 'TransportFault';
    this.reason = reason;
  }
}

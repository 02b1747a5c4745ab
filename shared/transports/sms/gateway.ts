import type { SmsReason } from '../../schemas/sms/sms.ts';

/** A carrier of text messages to phones, and what passes between it and us. */

export type TextMessage = {
  id: string;
  /** Whose message it is: the simulator keeps the phones of each workspace apart. */
  workspaceId: string;
  /** A name, or a number in E.164. */
  sender: string;
  /** E.164. */
  recipient: string;
  content: string;
  parts: number;
  /** Whether its outcome is to be reported. */
  wantsReceipt?: boolean;
  /** Parts that the gateway has from an attempt before; they are not sent again. */
  taken?: PartTaken[];
};

/** A part of a text of several, from 1, and what the gateway calls it. */
export type PartTaken = { part: number; reference: string };
/** Of a text of several parts: those that the gateway has, each with receipts of its own. */
type Parts = { parts?: PartTaken[] };

export type Submission =
  /** The gateway has it; its receipts name the reference, or those of the parts. */
  | ({ kind: 'accepted'; reference: string } & Parts)
  /** The gateway will not have it. */
  | ({ kind: 'refused'; code: string; retryable: boolean; detail: string } & Parts)
  /** The gateway does not have it, and may take it later; `afterMs`: when it says so itself. */
  | ({ kind: 'later'; detail: string; afterMs?: number } & Parts)
  /** Nobody knows what the gateway would have said; it may have the message all the same. */
  | ({ kind: 'unavailable'; detail: string } & Parts);

/** Where a part belongs in a text that came in parts. */
export type InboundPlace = { reference: number; total: number; part: number };
export type InboundPart = {
  gateway: string;
  /** As the gateway writes them. */
  sender: string;
  recipient: string;
  content: string;
  place: InboundPlace | null;
};

/**
 * Handlers of a gateway's own messages. It is told that it was heard once these have resolved, so what came is on disk
 * then.
 */
export type Receive = {
  receipt: (receipt: { gateway: string; reference: string; reason: SmsReason | null }) => Promise<void>;
  /** Resolves with what is to be done once the gateway has been told. `line`: the one that it came on, whichever object. */
  text: (text: InboundPart, line: object) => Promise<() => void>;
};

export type GatewayState = {
  isBound: boolean;
  inUse: number;
  downSince: Date | null;
  lastError: string | null;
  /** The carrier does not let us in, and says so. */
  isRefused?: boolean;
  /** Messages that may be without their answer at a time. */
  window?: number;
  /** Messages that it has taken from this process, parts for themselves. */
  taken?: number;
};

export type Gateway = {
  readonly name: string;
  /** May throw: `submit` below makes it `unavailable`. */
  submit: (message: TextMessage) => Promise<Submission>;
  /** False while it takes no messages, as far as this process knows. */
  isUp?: () => boolean;
  state?: () => GatewayState;
  /** From now on the process hears what the gateway says on its own. */
  open?: (receive: Receive) => Promise<void>;
  close?: () => Promise<void>;
};

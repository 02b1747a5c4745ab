import type { SmsLane } from '../../schemas/lanes.ts';
import type { SmsReason } from '../../schemas/sms/sms.ts';
import type { Returns } from './returns.ts';

/** A carrier of text messages to phones, and what passes between it and us. */

export type TextMessage = {
  id: string;
  /** Whose message it is: the simulator keeps the phones of each workspace apart. */
  workspaceId: string;
  /** The lane of the message: a gateway may delay texts of one lane to keep those of another quick. */
  lane?: SmsLane;
  /** A name, or a number in E.164. */
  sender: string;
  /** E.164. */
  recipient: string;
  content: string;
  parts: number;
  /** Whether the gateway is asked to report the outcome. */
  wantsReceipt?: boolean;
  /** Parts that the gateway took in an earlier attempt; they are not sent again. */
  taken?: PartTaken[];
};

/** The part of a text that decides about its turn. */
export type TextOfLane = Pick<TextMessage, 'lane' | 'workspaceId'>;

/** A part of a long text, counted from 1, and the gateway's reference for it. */
export type PartTaken = { part: number; reference: string };
/** The parts of a long text that the gateway has taken. Each part has receipts of its own. */
type Parts = { parts?: PartTaken[] };

export type Submission =
  /** The gateway has taken the message. Its receipts name the reference, or the references of the parts. */
  | ({ kind: 'accepted'; reference: string } & Parts)
  /** The gateway has refused the message for good. */
  | ({ kind: 'refused'; code: string; retryable: boolean; detail: string } & Parts)
  /**
   * The gateway does not have the message, and may take it later. `afterMs`: the wait until the next try, if known.
   * `waitsForTurn`: the gateway takes other messages, so this one only waits for its turn. `isPutOff`: it waits because
   * of the gateway, and may go earlier than said if the gateway takes messages earlier.
   */
  | ({ kind: 'later'; detail: string; afterMs?: number; waitsForTurn?: boolean; isPutOff?: boolean } & Parts)
  /** The outcome is unknown: the gateway may have the message. */
  | ({ kind: 'unavailable'; detail: string } & Parts);

/** Where a part belongs in a text that came in parts. */
export type InboundPlace = { reference: number; total: number; part: number };
export type InboundPart = {
  gateway: string;
  /** Sender and recipient, as the gateway writes them. */
  sender: string;
  recipient: string;
  /** The sender is a national number, without the code of its country. */
  isSenderNational?: boolean;
  content: string;
  place: InboundPlace | null;
};

/** Hears of our acknowledgement of a text: `written` first, and then at most one of the others. */
export type Acknowledgement = {
  /** It was written to the connection. */
  written: () => void;
  /** The gateway has read it. */
  read: () => void;
  /** The connection has ended, and the gateway may not have read it. */
  unread: () => void;
};

/**
 * Handlers of the messages that a gateway sends. We acknowledge a message only after its handler has resolved, so the
 * handler must have stored it by then.
 */
export type Receive = {
  receipt: (receipt: { gateway: string; reference: string; reason: SmsReason | null }) => Promise<void>;
  /** `line`: an object that stands for the connection. */
  text: (text: InboundPart, line: object) => Promise<Acknowledgement>;
};

export type GatewayState = {
  isBound: boolean;
  /** How many sessions are bound, and how many there should be. Left out: there is one. */
  bound?: number;
  binds?: number;
  inUse: number;
  downSince: Date | null;
  lastError: string | null;
  /** The carrier has refused our bind, or one of several. */
  isRefused?: boolean;
  /** Messages that may be without their answer at a time. */
  window?: number;
  /** Messages that the gateway has taken from this process; each part counts as one. */
  taken?: number;
};

export type Gateway = {
  readonly name: string;
  /** May throw: `submit` in sms.ts turns an error into `unavailable`. */
  submit: (message: TextMessage) => Promise<Submission>;
  /** False while it takes no messages, or none of the workspace, as far as this process knows. */
  isUp?: (workspaceId?: string) => boolean;
  /** Returns the outcome of a text that the operator does not let this gateway take now. Left out: it puts no texts off. */
  putOffPaused?: (text: TextOfLane, detail: string, leastMs: number) => Submission;
  state?: () => GatewayState;
  /** Left out: it puts no texts off. */
  returns?: Returns;
  /** Starts to receive the messages that the gateway sends on its own. */
  open?: (receive: Receive) => Promise<void>;
  close?: () => Promise<void>;
};

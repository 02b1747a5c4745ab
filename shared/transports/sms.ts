import { config } from '../config.ts';
import { isDramaNumber } from '../formats/phone-number.ts';
import { simulator } from './sms/simulator.ts';

/** What carries text messages to phones. */

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
  /** What becomes of it is to be reported. */
  wantsReceipt?: boolean;
};

export type Submission =
  /** The gateway has it; its receipts name the reference. */
  | { kind: 'accepted'; reference: string }
  /** The gateway will not have it. */
  | { kind: 'refused'; code: string; retryable: boolean; detail: string }
  /** The gateway does not have it, and may take it later. */
  | { kind: 'later'; detail: string }
  /** Nobody knows what the gateway would have said; it may have the message all the same. */
  | { kind: 'unavailable'; detail: string };

export type Gateway = {
  readonly name: string;
  /** May throw: `submit` below makes it `unavailable`. */
  submit: (message: TextMessage) => Promise<Submission>;
};

/** By what SMS_GATEWAY calls them. */
export const gateways: Record<string, Gateway> = { simulator };

/** Numbers that are nobody's never leave the simulator, whatever the gateway. */
export function gatewayFor(recipient: string): Gateway {
  return isDramaNumber(recipient) ? simulator : gateways[config.SMS_GATEWAY]!;
}

/** Whether the simulator plays the phones of all numbers, because no other gateway carries texts. */
export function isAllSimulated(): boolean {
  return gateways[config.SMS_GATEWAY] === simulator;
}

/** Hands the message to the gateway of its recipient. Never rejects, and takes no longer than SMS_TIMEOUT_SECONDS. */
export async function submit(message: TextMessage): Promise<Submission> {
  const { promise: late, resolve } = Promise.withResolvers<Submission>();
  const timer = setTimeout(
    () => resolve({ kind: 'unavailable', detail: 'The gateway did not answer in time' }),
    config.SMS_TIMEOUT_SECONDS * 1000,
  );
  try {
    return await Promise.race([gatewayFor(message.recipient).submit(message), late]);
  } catch (error) {
    return { kind: 'unavailable', detail: (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

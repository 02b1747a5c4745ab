import { closeAtEnd } from '../common/closing.ts';
import { config } from '../config/config.ts';
import type { HandOver, HandOverResult } from './smtp/hand-over.ts';
import { createSmtpPool, type HandOverPermit, type SmtpPool, type SmtpStats } from './smtp/pool.ts';
import { parseRelayUrl } from './smtp/relay.ts';
import type { SlotWish } from './smtp/slots.ts';

export type { HandOver, HandOverResult } from './smtp/hand-over.ts';
export { checkHandOver } from './smtp/hand-over.ts';
export type { HandOverPermit } from './smtp/pool.ts';

// A wrong SMTP_URL ends the process when it starts, not the first email.
parseRelayUrl(config.SMTP_URL);

let pool: SmtpPool | null = null;

/**
 * Hands one message to the relay of SMTP_URL, within SMTP_TIMEOUT_SECONDS. Faults of the network and answers of the
 * relay are in the result. Throws only for an email that parseMailbox or composeMessage cannot have made.
 */
export function handOver(email: HandOver, own?: HandOverPermit): Promise<HandOverResult> {
  pool ??= openPool();
  return pool.handOver(email, own);
}

/** Gives an email the right to be handed over, before it is claimed; null if no slot came free in time. */
export function permit(wish: SlotWish): Promise<HandOverPermit | null> {
  pool ??= openPool();
  return pool.permit(wish);
}

function openPool(): SmtpPool {
  closeAtEnd(closeSmtp);
  return createSmtpPool({
    relay: parseRelayUrl(config.SMTP_URL),
    connections: config.SMTP_CONNECTIONS,
    timeoutMs: config.SMTP_TIMEOUT_SECONDS * 1000,
  });
}

export function smtpStats(): SmtpStats {
  return pool?.stats() ?? { connections: 0, idle: 0, waiting: 0 };
}

/** Waits for what is under way, then closes every connection. */
export async function closeSmtp(): Promise<void> {
  await pool?.close();
  pool = null;
}

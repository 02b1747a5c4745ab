import { connect, type SendResult, type SmtpConnection } from './connection.ts';
import { checkHandOver, type HandOver, type HandOverResult, TransportFault } from './hand-over.ts';
import type { Relay } from './relay.ts';
import { createSlots, type ReleaseSlot, type SlotWish } from './slots.ts';

export type SmtpStats = { connections: number; idle: number; waiting: number };

/** The right to hand one email over. `slot`: the slot that it holds already; null if it takes one when it needs it. */
export type HandOverPermit = { slot: ReleaseSlot | null; leave: () => void };

export type SmtpPool = {
  /**
   * Gives an email the right to be handed over, before it is claimed. Where its hand-over may take long, the email gets
   * a slot now, so that no claimed email waits for one that hangs. Null: no slot came free in time, or another email of
   * the workspace waits for one.
   */
  permit(wish: SlotWish): Promise<HandOverPermit | null>;
  handOver(email: HandOver, permit?: HandOverPermit): Promise<HandOverResult>;
  stats(): SmtpStats;
  /** Waits for the messages under way, then says QUIT on every connection. */
  close(): Promise<void>;
};

// RFC 5321 §4.5.3.2.7 tells servers to wait 5 minutes, but many close much sooner, and idle connections cost the
// server.
const defaultIdleMs = 30_000;
// A connection whose RSET takes longer is closed, because it holds a slot while it waits.
const resetMs = 5000;
/** How long an email that is not claimed yet waits for a slot in this process. */
const permitWaitMs = 1_000;
/** Each such email holds a place of its process for a job, which the emails of other workspaces need. */
const mostWaitingForPermit = 1;

/**
 * Creates a pool. It opens connections when they are needed, and each one takes any number of messages, one after the
 * other.
 */
export function createSmtpPool(options: {
  relay: Relay;
  connections: number;
  /** Longest hand-over, the wait for a free connection included: the caller's lease counts on it. */
  timeoutMs: number;
  idleMs?: number;
}): SmtpPool {
  const { relay, timeoutMs, idleMs = defaultIdleMs } = options;
  const open = new Set<SmtpConnection>();
  const idle: { connection: SmtpConnection; since: number }[] = [];
  const slots = createSlots(options.connections);
  let idleTimer: NodeJS.Timeout | null = null;
  let drained: PromiseWithResolvers<void> | null = null;

  async function permit(wish: SlotWish): Promise<HandOverPermit | null> {
    const slot = slots.isQuick(wish) ? null : await takeSlot(wish, permitWaitMs, mostWaitingForPermit);
    if (slot === 'none') return null;
    const own: HandOverPermit = { slot, leave: () => own.slot?.(false) };
    return own;
  }

  async function takeSlot(
    wish: SlotWish,
    waitMs: number,
    mostWaiting?: number,
  ): Promise<ReleaseSlot | 'none'> {
    const release = await slots.take(wish, waitMs, mostWaiting);
    if (!release) return 'none';
    return (isProof) => {
      release(isProof);
      if (slots.busy() === 0) drained?.resolve();
    };
  }

  async function handOver(email: HandOver, own?: HandOverPermit): Promise<HandOverResult> {
    checkHandOver(email);
    if (drained) return { kind: 'busy', detail: 'this process is closing' };
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const { lane = 'authentication', owner } = email;
    try {
      // At least half of the time is left for the relay, so a wait in this process never seems a fault of the relay.
      const slot = own?.slot ?? (await takeSlot({ lane, owner }, timeoutMs / 2));
      if (slot === 'none') return { kind: 'busy', detail: 'no connection came free in time' };
      // From here the slot is free only when the connection is.
      if (own) own.slot = null;
      return await handOverInSlot(email, deadline.signal, slot);
    } finally {
      clearTimeout(timer);
    }
  }

  async function handOverInSlot(
    email: HandOver,
    signal: AbortSignal,
    release: ReleaseSlot,
  ): Promise<HandOverResult> {
    let connection = idle.pop()?.connection;
    let result = connection && (await sendOn(connection, email, signal));
    // The relay may close a connection that it finds idle while we speak; nothing of the message was sent.
    if (!connection || !result || (foundClosed(result) && !signal.aborted)) {
      try {
        connection = await connectNew(signal);
      } catch (error) {
        release(false);
        return signal.aborted ? late('session', 'while connecting to the relay') : faultOf(error);
      }
      result = await sendOn(connection, email, signal);
    }
    const isProof = isAnswer(result);
    void putBack(connection, result).finally(() => release(isProof));
    if (result.kind !== 'lost') return result;
    if (result.isUnread) return { kind: 'unread', detail: result.detail };
    if (result.progress === 'end')
      return { kind: 'uncertain', detail: signal.aborted ? lateDetail : result.detail };
    return signal.aborted
      ? late('message', 'before the message was sent whole')
      : { kind: 'transport_fault', at: 'message', reason: 'connection', detail: result.detail };
  }

  const lateDetail = `no answer within ${timeoutMs / 1000} s`;

  function late(at: 'session' | 'message', when: string): HandOverResult {
    return { kind: 'transport_fault', at, reason: 'timeout', detail: `${lateDetail}, ${when}` };
  }

  async function connectNew(signal: AbortSignal): Promise<SmtpConnection> {
    const connection = await connect(relay, signal);
    open.add(connection);
    connection.onceClosed(() => {
      open.delete(connection);
      const index = idle.findIndex((one) => one.connection === connection);
      if (index >= 0) idle.splice(index, 1);
    });
    return connection;
  }

  async function sendOn(
    connection: SmtpConnection,
    email: HandOver,
    signal: AbortSignal,
  ): Promise<SendResult> {
    connection.keepProcessAlive(true);
    const end = (): void => connection.destroy();
    signal.addEventListener('abort', end, { once: true });
    try {
      return await connection.send(email);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  async function putBack(connection: SmtpConnection, result: SendResult): Promise<void> {
    if (result.kind === 'lost') connection.destroy();
    if (result.kind === 'refused' && connection.isOpen()) await resetInTime(connection);
    if (!connection.isOpen()) return;
    connection.keepProcessAlive(false);
    idle.push({ connection, since: performance.now() });
    idleTimer ??= setTimeout(closeIdle, idleMs).unref();
  }

  async function resetInTime(connection: SmtpConnection): Promise<void> {
    const timer = setTimeout(() => connection.destroy(), resetMs);
    if (!(await connection.reset())) connection.destroy();
    clearTimeout(timer);
  }

  function closeIdle(): void {
    idleTimer = null;
    const limit = performance.now() - idleMs;
    // The connection that was used last is taken first, so the longest idle are in front.
    const firstToKeep = idle.findIndex(({ since }) => since > limit);
    for (const { connection } of idle.splice(0, firstToKeep < 0 ? idle.length : firstToKeep))
      void connection.quit();
    const [oldest] = idle;
    if (oldest) idleTimer = setTimeout(closeIdle, oldest.since - limit).unref();
  }

  async function close(): Promise<void> {
    drained ??= Promise.withResolvers();
    if (slots.busy() === 0) drained.resolve();
    await drained.promise;
    if (idleTimer) clearTimeout(idleTimer);
    await Promise.all(idle.splice(0).map(({ connection }) => connection.quit()));
  }

  return {
    permit,
    handOver,
    close,
    stats: () => ({ connections: open.size, idle: idle.length, waiting: slots.waiting() }),
  };
}

/** Tells whether the relay had closed a kept connection before we used it. The answer 421 means the same. */
function foundClosed(result: SendResult): boolean {
  return result.kind === 'lost'
    ? result.progress === 'envelope' && !result.isUnread
    : result.kind === 'refused' && result.code === 421 && result.stage === 'mail';
}

/** Tells whether the relay has answered an email. A relay that closes its connections says 421 to any email. */
function isAnswer(result: SendResult): boolean {
  return result.kind === 'accepted' || (result.kind === 'refused' && result.code !== 421);
}

function faultOf(error: unknown): HandOverResult {
  if (!(error instanceof TransportFault)) throw error;
  return { kind: 'transport_fault', at: 'session', reason: error.reason, detail: error.message };
}

import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import type { SmppSettings } from '../../../config/sms-gateways.ts';
import { answerMs } from '../admission.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import { BindRefused } from './statuses.ts';

// Each wait is between half of this and all of it, at random, because many processes lose their connections at one
// moment.
const [firstBackoffMs, longestBackoffMs] = [1_000, 60_000];
/** After a refused bind we do not ask again each second, because some carriers lock the account. */
const refusedBackoffMs = 30_000;

type KeptSessionOptions = Pick<SessionOptions, 'notTaken'> & {
  /** Whether this process receives, so that the session is to be there at any time. */
  receives: () => boolean;
  /** `line`: an object that stands for the session. */
  onDeliver: (
    message: Parameters<SessionOptions['onDeliver']>[0],
    line: object,
  ) => ReturnType<SessionOptions['onDeliver']>;
  /** Called when the session is open again without a message that waits for it. */
  onReopened: () => void;
};

/** Keeps one session to the carrier: in a process that receives, a lost one is opened again until `close`. */
export function keepSession(
  settings: SmppSettings,
  { receives, onDeliver, onReopened, notTaken }: KeptSessionOptions,
) {
  const { name } = settings;
  let session: Session | null = null;
  let opening: Promise<void> | null = null;
  let isClosed = false;
  let failures = 0;
  let retryAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const state = { downSince: null as Date | null, lastError: null as string | null, isRefused: false };

  /** Makes one attempt to bind. */
  function open(): Promise<void> {
    if (session) return Promise.resolve();
    opening ??= bind().finally(() => {
      opening = null;
    });
    return opening;
  }

  async function bind(): Promise<void> {
    // A session that we closed, or that another one has replaced, must not count as lost when it ends.
    const line = { session: null as Session | null };
    try {
      const opened = await openSession({
        ...settings,
        bind: receives() ? 'transceiver' : 'transmitter',
        responseMs: answerMs(),
        enquireMs: settings.enquireSeconds * 1000,
        onDeliver: (pdu) => onDeliver(pdu, line),
        notTaken,
        onClosed: (reason) => {
          if (line.session === null || session !== line.session) return;
          session = null;
          lost(new Error(reason));
        },
      });
      if (isClosed) return await opened.close(0);
      const ended = opened.ended();
      if (ended !== null) throw new Error(ended);
      session = line.session = opened;
      failures = 0;
      if (state.downSince) logger.warn({ gateway: name }, 'a gateway is up again');
      Object.assign(state, { downSince: null, lastError: null, isRefused: false });
    } catch (error) {
      if (!isClosed) lost(error as Error);
    }
  }

  function lost(error: Error): void {
    failures += 1;
    state.downSince ??= new Date();
    state.lastError = error.message;
    const isRefused = error instanceof BindRefused;
    state.isRefused = isRefused;
    const longest = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 10));
    const backoffMs = Math.max(isRefused ? refusedBackoffMs : 0, longest) * (0.5 + Math.random() / 2);
    retryAt = performance.now() + backoffMs;
    count('sms_gateway_losses', { gateway: name, kind: isRefused ? 'refused' : 'line' });
    const context = { gateway: name, detail: error.message, retrySeconds: Math.round(backoffMs / 1000) };
    if (isRefused) logger.error(context, 'a gateway refuses the bind');
    else logger.warn(context, 'the connection to a gateway is lost');
    // There is only one timer: `close` clears it, and a second one would bind again after the close.
    clearTimeout(timer);
    // A process that only sends tries again only after a refusal, of which the operator is told until it is over.
    if (receives() || isRefused) timer = setTimeout(() => void open().then(onReopened), backoffMs).unref();
  }

  /** Waits for the answers under way, at most `drainMs`, and ends the session. */
  async function leave(drainMs: number): Promise<void> {
    const left = session;
    if (!left) return;
    session = null;
    retryAt = 0;
    await left.close(drainMs);
  }

  return {
    state,
    session: () => session,
    open,
    retryAt: () => retryAt,
    /** Whether a message may wait for the session: an attempt is under way, or one may be made. */
    isToCome: () => opening !== null || performance.now() >= retryAt,
    /**
     * After a failure an attempt to bind does not count: it may last for seconds, in which texts would wait here and not
     * take the next gateway. A process that only sends makes no attempt without a text, so one text may try again.
     */
    isReachable: (): boolean => {
      if (session || failures === 0) return true;
      return !receives() && !opening && performance.now() >= retryAt;
    },
    leave,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await opening;
      await leave(answerMs());
      isClosed = false;
      retryAt = 0;
    },
  };
}

import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import type { SmppSettings } from '../../../config/sms-gateways.ts';
import { answerMs, createAdmission, later, waitMs } from '../admission.ts';
import type { Acknowledgement, Gateway, Receive, Submission, TextMessage } from '../gateway.ts';
import { messagesNotTaken } from './not-taken.ts';
import { addressOf, firstText, national, type ShortMessage, validity } from './pdu.ts';
import { canonicalId, isReceipt, readReceipt } from './receipts.ts';
import { openSession, type Session, type Submitted } from './session.ts';
import { BindRefused, isFault, isThrottled, labelOf, outcomeOf, statuses } from './statuses.ts';
import { decodeText, encodeText, referenceOf } from './text.ts';
import { unnamedPart } from './unnamed-part.ts';

// Each wait is between half of this and all of it, at random, because many processes lose their connections at one
// moment.
const [firstBackoffMs, longestBackoffMs] = [1_000, 60_000];
/** After a refused bind we do not ask again each second, because some carriers lock the account. */
const refusedBackoffMs = 30_000;
/**
 * A process that sends only now and then, such as the web process with its codes, closes its session after this time.
 */
const idleMs = 30_000;

/**
 * Creates the gateway to a carrier by SMPP 3.4. Each process has one session for each gateway, because carriers count
 * sessions.
 */
export function createSmppGateway(settings: SmppSettings): Gateway {
  const { name } = settings;
  const admission = createAdmission(settings);
  const notTaken = messagesNotTaken(name);
  let session: Session | null = null;
  let opening: Promise<void> | null = null;
  let receive: Receive | null = null;
  let isClosed = false;
  let failures = 0;
  let retryAt = 0;
  let timer: NodeJS.Timeout | null = null;
  let idleTimer: NodeJS.Timeout | null = null;
  const state = { downSince: null as Date | null, lastError: null as string | null, isRefused: false };
  let taken = 0;

  /** Makes one attempt to bind. In a process that receives, a lost connection is opened again until `close`. */
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
        bind: receive ? 'transceiver' : 'transmitter',
        responseMs: answerMs(),
        enquireMs: settings.enquireSeconds * 1000,
        onDeliver: (pdu) => deliver(pdu, line),
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
    if (timer) clearTimeout(timer);
    // A process that only sends tries again only after a refusal, of which the operator is told until it is over.
    if (receive || isRefused) timer = setTimeout(() => void open().then(leaveWhenIdle), backoffMs).unref();
  }

  async function deliver(
    pdu: ShortMessage,
    line: object,
  ): Promise<{ status: number; acknowledgement?: Acknowledgement }> {
    if (!receive) return { status: statuses.temporaryFault };
    if (isReceipt(pdu)) {
      const receipt = readReceipt(pdu, settings.receiptIds);
      // A receipt that we cannot read now will never be readable. If we refused it, the carrier would send it again
      // for days.
      if (!receipt) notTaken.unread('receipt', 'it names no message or no state');
      else if (receipt.state !== 'pending')
        await receive.receipt({ gateway: name, reference: receipt.reference, reason: receipt.reason });
      return { status: statuses.ok };
    }
    const { content, place } = decodeText(pdu, settings.defaultAlphabet);
    const [sender, recipient] = [pdu.source.address, pdu.destination.address];
    const text = { gateway: name, sender, recipient, content, place };
    const acknowledgement = await receive.text(
      pdu.source.ton === national ? { ...text, isSenderNational: true } : text,
      line,
    );
    return { status: statuses.ok, acknowledgement };
  }

  /** Returns the session if the carrier accepts the bind before `end`, else null. */
  async function readySession(end: number): Promise<Session | null> {
    if (session || (!opening && performance.now() < retryAt)) return session;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, end - performance.now());
    await Promise.race([open(), promise]);
    clearTimeout(timer);
    return session;
  }

  async function submit(message: TextMessage): Promise<Submission> {
    const end = performance.now() + waitMs();
    let ready: Session | null = null;
    const bound = async () => {
      ready = await readySession(end);
      if (ready) return null;
      const detail = `The gateway is down: ${state.lastError ?? 'it has not answered the bind yet'}`;
      return admission.putOff(message, detail, retryAt - performance.now(), true);
    };
    try {
      return await admission.admit(message, (started) => hand(ready!, message, end, started), bound);
    } finally {
      leaveWhenIdle();
    }
  }

  async function hand(
    ready: Session,
    message: TextMessage,
    end: number,
    started: () => void,
  ): Promise<Submission> {
    const form = settings.longMessages;
    const encoded = encodeText(message.content, {
      form,
      reference: referenceOf(message.id),
      gsmCoding: settings.gsmDataCoding,
    });
    const known = new Set(message.taken?.map(({ part }) => part));
    const leftMs = () => Math.max(0, end - performance.now());
    let waiting = encoded.length - known.size;
    const partStarted = () => (waiting -= 1) === 0 && started();
    const results = await Promise.all(
      encoded.map(async ({ hasHeader, ...part }, index) => {
        if (known.has(index + 1)) return null;
        if (!(await admission.takeTurn(leftMs(), message.lane)))
          return { kind: 'unsent', detail: 'the rate is used up' } as const;
        return ready.submit(
          {
            ...part,
            source: addressOf(message.sender),
            destination: addressOf(message.recipient),
            esmClass: hasHeader ? 0x40 : 0,
            validityPeriod: validity(settings.validityHours),
            registeredDelivery: message.wantsReceipt ? 1 : 0,
          },
          leftMs(),
          message.lane,
          partStarted,
        );
      }),
    );
    noteAll(
      message.workspaceId,
      results.filter((result) => result !== null),
    );
    return summary(results, message, encoded.length);
  }

  /**
   * Reports the results to the circuit breaker. A carrier that answers each text with a fault counts as one that does not
   * answer, so that another gateway is used. All parts of one text that failed count as one failure.
   */
  function noteAll(workspaceId: string, results: Submitted[]): void {
    const tried = results.filter((result) => result.kind !== 'unsent');
    const failed = tried.filter((result) => result.kind === 'unanswered' || isFault(result.status));
    if (failed.length < tried.length) admission.note(workspaceId, false);
    if (failed.some((result) => result.kind === 'unanswered' && result.isLost)) admission.noteLost();
    else if (failed.length > 0) admission.note(workspaceId, true);
  }

  function summary(results: (Submitted | null)[], message: TextMessage, parts: number): Submission {
    const taken = [...(message.taken ?? [])];
    const faults: Exclude<Submission, { kind: 'accepted' }>[] = [];
    let putOff: Submission | null = null;
    /** All parts that are put off count as one text. */
    const once = (make: () => Submission) => (putOff ??= make());
    results.forEach((result, index) => {
      if (result === null) return;
      const outcome = judged(result, message, once);
      if (outcome.kind !== 'accepted') return void faults.push(outcome);
      const { reference } = outcome;
      const isName = reference !== '' && taken.every((one) => one.reference !== reference);
      taken.push({ part: index + 1, reference: isName ? reference : unnamedPart(message.id, index + 1) });
    });
    const own = parts > 1 ? { parts: taken.toSorted((one, other) => one.part - other.part) } : {};
    // The worst outcome of a part is the outcome of the message.
    const fault = (['refused', 'unavailable', 'later'] as const)
      .map((kind) => faults.find((one) => one.kind === kind))
      .find((one) => one !== undefined);
    if (fault) return { ...fault, ...own };
    return { kind: 'accepted', reference: taken.find(({ part }) => part === 1)!.reference, ...own };
  }

  function judged(
    result: Submitted,
    message: TextMessage,
    once: (putOff: () => Submission) => Submission,
  ): Submission {
    if (result.kind === 'unsent')
      return once(() => admission.putOffUnsent(message, result.detail, session?.isSilent()));
    if (result.kind === 'unanswered') return { kind: 'unavailable', detail: result.detail };
    if (result.status !== 0) {
      const outcome = outcomeOf(result.status);
      count('sms_gateway_refusals', { gateway: name, status: labelOf(result.status) });
      if (isThrottled(result.status)) return once(() => admission.putOffThrottled(message, outcome.detail));
      // Another status may be about this text alone, whatever becomes of others.
      return outcome.kind === 'later' ? later(outcome.detail, admission.throttleMs()) : outcome;
    }
    admission.tookOne();
    taken += 1;
    return { kind: 'accepted', reference: canonicalId(firstText(result.body), settings.answerIds) };
  }

  /**
   * After a failure an attempt to bind does not count: it may last for seconds, in which texts would wait here and not
   * take the next gateway. A process that only sends makes no attempt without a text, so one text may try again.
   */
  function isReachable(): boolean {
    if (session || failures === 0) return true;
    return !receive && !opening && performance.now() >= retryAt;
  }

  function leaveWhenIdle(): void {
    if (receive || admission.inHand() > 0) return;
    if (idleTimer) clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      const left = session;
      if (admission.inHand() > 0 || !left) return;
      session = null;
      retryAt = 0;
      void left.close(0);
    }, idleMs).unref();
  }

  return {
    name,
    isUp: (workspaceId) => admission.isOpen(workspaceId) && isReachable(),
    state: () => ({
      ...state,
      isBound: session !== null,
      inUse: session?.inUse() ?? 0,
      window: settings.window,
      taken,
    }),
    submit,
    putOffPaused: admission.putOffPaused,
    returns: admission.returns,
    open: async (handlers) => {
      receive = handlers;
      isClosed = false;
      await open();
    },
    close: async () => {
      isClosed = true;
      receive = null;
      for (const one of [timer, idleTimer]) if (one) clearTimeout(one);
      await opening;
      const left = session;
      session = null;
      await left?.close(answerMs());
      isClosed = false;
      retryAt = 0;
    },
  };
}

import { count } from '../../../common/metrics.ts';
import type { SmppSettings } from '../../../config/sms-gateways.ts';
import { createAdmission, later, waitMs } from '../admission.ts';
import type { Acknowledgement, Gateway, GatewayState, Receive, Submission, TextMessage } from '../gateway.ts';
import { keepSession } from './kept-session.ts';
import { messagesNotTaken } from './not-taken.ts';
import { addressOf, firstText, national, type ShortMessage, validity } from './pdu.ts';
import { canonicalId, isReceipt, readReceipt } from './receipts.ts';
import type { Session, Submitted } from './session.ts';
import { isFault, isThrottled, labelOf, outcomeOf, statuses } from './statuses.ts';
import { decodeText, encodeText, referenceOf } from './text.ts';
import { unnamedPart } from './unnamed-part.ts';

/**
 * A process that sends only now and then, such as the web process with its codes, closes its session after this time.
 */
const idleMs = 30_000;

/**
 * Creates the gateway to a carrier by SMPP 3.4. A process that receives has `binds` sessions. A process that only sends
 * has one, because carriers count sessions, and its texts are few.
 */
export function createSmppGateway(settings: SmppSettings): Gateway {
  const { name } = settings;
  const admission = createAdmission({ ...settings, window: settings.binds * settings.window });
  const notTaken = messagesNotTaken(name);
  let receive: Receive | null = null;
  let idleTimer: NodeJS.Timeout | undefined;
  let taken = 0;
  const all = Array.from({ length: settings.binds }, () =>
    keepSession(settings, {
      receives: () => receive !== null,
      onDeliver: deliver,
      onReopened: leaveWhenIdle,
      notTaken,
    }),
  );
  const used = () => (receive ? all : all.slice(0, 1));
  const sessions = () => all.flatMap((one) => one.session() ?? []);

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

  /** Resolves once there is a session, or none can be there before `end`. */
  async function isBound(end: number): Promise<boolean> {
    const toCome = used().filter((one) => one.isToCome());
    if (sessions().length > 0 || toCome.length === 0) return sessions().length > 0;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, end - performance.now());
    const first = Promise.any(toCome.map((one) => one.open().then(() => one.session() ?? Promise.reject())));
    await Promise.race([first.catch(() => undefined), late]);
    clearTimeout(timer);
    return sessions().length > 0;
  }

  /** Returns the session with the fewest messages; one that has stopped answering comes last. */
  const nextSession = (): Session | undefined =>
    sessions().toSorted(
      (one, other) => Number(one.isSilent()) - Number(other.isSilent()) || one.load() - other.load(),
    )[0];
  const isSilent = () => nextSession()?.isSilent();
  const lastError = () => used().find(({ state }) => state.lastError !== null)?.state.lastError ?? null;

  async function submit(message: TextMessage): Promise<Submission> {
    const end = performance.now() + waitMs();
    const bound = async () => {
      if (await isBound(end)) return null;
      const detail = `The gateway is down: ${lastError() ?? 'it has not answered the bind yet'}`;
      const retryAt = Math.min(...used().map((one) => one.retryAt()));
      return admission.putOff(message, detail, retryAt - performance.now(), true);
    };
    try {
      return await admission.admit(message, (started) => hand(message, end, started), bound);
    } finally {
      leaveWhenIdle();
    }
  }

  async function hand(message: TextMessage, end: number, started: () => void): Promise<Submission> {
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
        const session = nextSession();
        if (!session) return { kind: 'unsent', detail: lastError() ?? 'the line is closed' } as const;
        return session.submit(
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
      return once(() => admission.putOffUnsent(message, result.detail, isSilent()));
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

  function leaveWhenIdle(): void {
    if (receive || admission.inProgress() > 0) return;
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      if (admission.inProgress() === 0) for (const one of all) void one.leave(0);
    }, idleMs).unref();
  }

  function state(): GatewayState {
    const bound = sessions();
    const downTimes = bound.length > 0 ? [] : used().flatMap(({ state }) => state.downSince ?? []);
    return {
      isBound: bound.length > 0,
      bound: bound.length,
      binds: used().length,
      // Until the last one was lost, the gateway was up.
      downSince: downTimes.toSorted((one, other) => other.getTime() - one.getTime())[0] ?? null,
      lastError: lastError(),
      isRefused: used().some((one) => one.state.isRefused),
      inUse: bound.reduce((total, session) => total + session.inUse(), 0),
      window: bound.length * settings.window,
      taken,
    };
  }

  return {
    name,
    isUp: (workspaceId) => admission.isOpen(workspaceId) && used().some((one) => one.isReachable()),
    state,
    submit,
    putOffPaused: admission.putOffPaused,
    returns: admission.returns,
    open: async (handlers) => {
      receive = handlers;
      await Promise.all(all.map((one) => one.open()));
    },
    close: async () => {
      receive = null;
      clearTimeout(idleTimer);
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

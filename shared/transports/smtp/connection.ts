import type { Socket } from 'node:net';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { enhancedCodeOf, inOneLine, type SmtpStage } from '../../formats/email/smtp-reply.ts';
import { openSession, step } from './connect.ts';
import { type HandOver, type HandOverResult, sizeOf } from './hand-over.ts';
import { bodyOf, hasPieces } from './message-body.ts';
import { detailOf, type Relay } from './relay.ts';

/**
 * How far a message was written when the connection was lost. In `body` its end was not sent yet, so the relay cannot
 * have taken it.
 */
type WritePhase = 'envelope' | 'body' | 'end';

export type SendResult =
  | Extract<HandOverResult, { kind: 'accepted' | 'refused' }>
  /** `isUnread`: we gave up, because the message could not be read. */
  | { kind: 'lost'; progress: WritePhase; detail: string; isUnread: boolean };

export type SmtpConnection = {
  isOpen(): boolean;
  /** One message at a time. */
  send(email: HandOver): Promise<SendResult>;
  /** Ends the transaction of a message that was refused; false: the connection is of no more use. */
  reset(): Promise<boolean>;
  /** An idle connection must not keep the process alive. */
  keepProcessAlive(keep: boolean): void;
  onceClosed(action: () => void): void;
  /** Says QUIT; resolves when the connection is closed. */
  quit(): Promise<void>;
  destroy(): void;
};

export async function connect(relay: Relay, signal: AbortSignal): Promise<SmtpConnection> {
  const { session, socket } = await openSession(relay, signal);
  return {
    isOpen: () => !session.destroyed,
    async send(email) {
      const result = await send(session, relay, email);
      // A long message that is refused early may still be going out, and the next command would become part of it.
      if (result.kind === 'refused' && result.stage === 'data' && hasPieces(email.message)) session.close();
      return result;
    },
    reset: () =>
      step(session, (done) => session.reset(done)).then(
        () => true,
        () => false,
      ),
    keepProcessAlive: (keep) => void (keep ? socket.ref() : socket.unref()),
    onceClosed: (action) => void session.once('end', action),
    quit: () => (session.destroyed ? Promise.resolve() : quit(session, socket)),
    destroy: () => session.close(),
  };
}

type RefusableEnvelope = SMTPConnection.Envelope & {
  mailError?: SMTPConnection.SMTPError;
  rejectedErrors?: SMTPConnection.SMTPError[];
};

function send(session: SMTPConnection, relay: Relay, email: HandOver): Promise<SendResult> {
  let progress: WritePhase = 'envelope';
  let fault: Error | null = null;
  const body = bodyOf(email.message, {
    onPiece: (isLast) => {
      progress = isLast ? 'end' : 'body';
    },
    onFault: (error) => {
      fault = error;
      session.close();
    },
  });

  return new Promise((resolve) => {
    // The library pipelines MAIL, RCPT and DATA. It writes a refusal onto the envelope, and reports it only at the answer
    // to DATA, which a relay that closes after its refusal does not give any more.
    const fail = (error: SMTPConnection.SMTPError): void =>
      resolve(
        refusalOf(envelope.mailError ?? envelope.rejectedErrors?.[0] ?? error, progress) ?? {
          kind: 'lost',
          progress,
          detail: detailOf(relay, fault?.message ?? error.message),
          isUnread: fault !== null,
        },
      );
    // 'end' comes before the callback when one event causes both. The callback knows the cause, so it goes first.
    const end = (): void => queueMicrotask(() => fail(new Error('the connection was closed')));
    session.once('end', end);
    const envelope: RefusableEnvelope = {
      from: email.envelopeFrom,
      to: [email.envelopeTo],
      size: sizeOf(email.message),
      ...(email.requestDsn && {
        dsn: { ret: 'HDRS', notify: ['SUCCESS', 'FAILURE', 'DELAY'], orcpt: `rfc822;${email.envelopeTo}` },
      }),
    };
    session.send(envelope, body, (error, info) => {
      session.off('end', end);
      if (error) fail(error);
      else resolve({ kind: 'accepted', reply: inOneLine(info?.response ?? '') });
    });
  });
}

const stages: Record<string, SmtpStage> = { 'MAIL FROM': 'mail', 'RCPT TO': 'rcpt', DATA: 'data' };

function refusalOf(
  error: SMTPConnection.SMTPError,
  progress: WritePhase,
): Extract<SendResult, { kind: 'refused' }> | null {
  if (typeof error.response !== 'string' || !error.responseCode) {
    // The library compares the size with the limit in EHLO before it says MAIL FROM.
    return error.code === 'EMESSAGE' && error.command === 'MAIL FROM'
      ? { kind: 'refused', stage: 'mail', code: 552, enhanced: '5.3.4', reply: `552 5.3.4 ${error.message}` }
      : null;
  }
  if (error.code === 'EPROTOCOL') return null;
  // A server that closes may answer out of turn. Its answer counts for the command that it no longer answers.
  const stage = stages[error.command ?? ''] ?? (progress === 'envelope' ? 'rcpt' : 'data');
  const reply = inOneLine(error.response);
  return { kind: 'refused', stage, code: error.responseCode, enhanced: enhancedCodeOf(reply), reply };
}

const quitMs = 2000;

function quit(session: SMTPConnection, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => session.close(), quitMs);
    session.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    session.quit();
    if (socket.destroyed) session.close();
  });
}

import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { atEnd } from '../runner/at-end.ts';
import { waitFor } from '../time/wait-for.ts';
import { type Misbehaviour, misbehave } from './smtp-sink/misbehave.ts';

/** The refusals of the server, each at the command where it gives it. */
const refusals = {
  '450 at RCPT': { at: 'rcpt', code: 450, text: '4.2.1 Try again later' },
  '550 at RCPT': { at: 'rcpt', code: 550, text: '5.1.1 No such mailbox' },
  '550 naming the address': { at: 'rcpt', code: 550, text: '5.1.1 <{recipient}>: no such mailbox' },
  '550 5.7.1 at RCPT': { at: 'rcpt', code: 550, text: '5.7.1 Refused by policy' },
  '550 at MAIL, then closed': { at: 'mail', code: 550, text: '5.7.1 Refused by policy' },
  '550 at RCPT, then closed': { at: 'rcpt', code: 550, text: '5.1.1 No such mailbox' },
  '552 at RCPT': { at: 'rcpt', code: 552, text: '5.2.2 Mailbox full' },
  '421 at MAIL': { at: 'mail', code: 421, text: '4.3.2 Closing' },
  '421 at RCPT': { at: 'rcpt', code: 421, text: '4.3.2 Closing' },
  '421 after the dot': { at: 'data', code: 421, text: '4.3.2 Closing' },
  '451 after the dot': { at: 'data', code: 451, text: '4.3.0 Try again later' },
  '550 5.1.1 after the dot': { at: 'data', code: 550, text: '5.1.1 No such mailbox' },
  '554 after the dot': { at: 'data', code: 554, text: '5.6.0 Content refused' },
} as const;

export type SmtpMode =
  | 'accept'
  | keyof typeof refusals
  | 'accept, then reset'
  | 'drop at MAIL'
  | 'drop in DATA'
  | 'drop after the dot'
  | 'hang at RCPT'
  | 'hang after the dot'
  | '535 at login'
  | Misbehaviour;

/** One mode for all messages, or a function that gives each recipient a mode. */
type ModeChoice = SmtpMode | ((recipient: string) => SmtpMode);

export type ReceivedMessage = {
  envelope: { from: string; to: string[] };
  /** Keywords of MAIL FROM and RCPT TO, such as SIZE, RET, NOTIFY. */
  parameters: Record<string, string | true>;
  /** The message without the doubled dots of SMTP. */
  raw: Buffer;
  /** The reply code that was sent, or null if none was. A refused message is listed too. */
  answer: number | null;
  /** The number of the connection, counted from 1. */
  connection: number;
  user: string | null;
  isEncrypted: boolean;
};

type Refusal = Error & { responseCode: number };

type Options = {
  mode?: SmtpMode;
  /** Offers STARTTLS, or speaks TLS from the start, with a certificate that nobody trusts. */
  tls?: 'starttls' | 'implicit';
  /** Demands and takes this login. */
  login?: { user: string; password: string };
  maxMessageBytes?: number;
};

/**
 * Starts a mail server on a free port: a real one (smtp-server), except where a mode makes it misbehave. `setMode` also
 * applies to open connections, as far as the mode is about messages. A function gives each recipient a mode, from RCPT.
 */
export async function startSmtpSink(options: Options = {}) {
  let mode: ModeChoice = options.mode ?? 'accept';
  const modeOfConnection = new Map<number, ModeChoice>();
  const messages: ReceivedMessage[] = [];
  let held: Promise<unknown> = Promise.resolve();
  const sockets = new Map<number, net.Socket>();
  const connectionOf = new Map<net.Socket, number>();

  const numberOf = (socket: net.Socket | undefined): number => (socket && connectionOf.get(socket)) ?? 0;
  function modeFor(socket: net.Socket | undefined, recipient?: string): SmtpMode {
    const its = modeOfConnection.get(numberOf(socket)) ?? mode;
    return typeof its === 'string' ? its : recipient === undefined ? 'accept' : its(recipient);
  }
  const refusalAt = (stage: string, session: SMTPServerSession, recipient?: string): Refusal | null => {
    const its = modeFor(socketOf(session), recipient);
    const refusal = Object.entries(refusals).find(([name, { at }]) => name === its && at === stage)?.[1];
    if (!refusal) return null;
    const text = refusal.text.replace('{recipient}', recipient ?? '');
    return Object.assign(new Error(text), { responseCode: refusal.code });
  };
  const answer = (
    stage: string,
    session: SMTPServerSession,
    callback: (refusal: Refusal | null) => void,
    recipient?: string,
  ): void => {
    const refusal = refusalAt(stage, session, recipient);
    // Without the callback the commands that were pipelined are not answered.
    if (refusal && modeFor(socketOf(session), recipient).endsWith(', then closed'))
      socketOf(session)?.end(`${refusal.responseCode} ${refusal.message}\r\n`);
    else callback(refusal);
  };
  const socketOf = (session: SMTPServerSession): net.Socket | undefined => sockets.get(session.remotePort);
  const recipientOf = (session: SMTPServerSession): string => session.envelope.rcptTo[0]?.address ?? '';

  async function receive(stream: Readable, session: SMTPServerSession): Promise<Refusal | null | 'silent'> {
    const socket = socketOf(session);
    const its = modeFor(socketOf(session), recipientOf(session));
    if (its === 'drop in DATA') {
      stream.once('data', () => socket?.destroy());
      return 'silent';
    }
    const raw = await buffer(stream);
    const refusal = refusalAt('data', session, recipientOf(session));
    const isSilent = its === 'drop after the dot' || its === 'hang after the dot';
    const { mailFrom, rcptTo } = session.envelope;
    messages.push({
      envelope: { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) },
      parameters: Object.assign({}, mailFrom && mailFrom.args, ...rcptTo.map(({ args }) => args)),
      raw,
      answer: isSilent ? null : (refusal?.responseCode ?? 250),
      connection: numberOf(socket),
      user: session.user ?? null,
      isEncrypted: session.secure,
    });
    if (its === 'drop after the dot') socket?.destroy();
    return isSilent ? 'silent' : refusal;
  }

  const smtp = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    secure: options.tls === 'implicit',
    disabledCommands: [...(options.tls ? [] : ['STARTTLS']), ...(options.login ? [] : ['AUTH'])],
    authOptional: !options.login,
    allowInsecureAuth: true,
    hideDSN: false,
    ...(options.maxMessageBytes && { size: options.maxMessageBytes }),
    onAuth({ username, password }, session, callback) {
      const { user, password: right } = options.login ?? {};
      if (modeFor(socketOf(session)) !== '535 at login' && username === user && password === right)
        return callback(null, { user: username });
      callback(Object.assign(new Error('5.7.8 Bad credentials'), { responseCode: 535 }));
    },
    onMailFrom(_address, session, callback) {
      if (modeFor(socketOf(session)) === 'drop at MAIL') socketOf(session)?.destroy();
      else answer('mail', session, callback);
    },
    onRcptTo({ address }, session, callback) {
      if (modeFor(socketOf(session), address) !== 'hang at RCPT') answer('rcpt', session, callback, address);
    },
    onData(stream, session, callback) {
      // `receive` fails when the client goes away before the final dot.
      const received = receive(stream, session).catch(() => 'silent' as const);
      void received.then(async (refusal) => {
        if (refusal === 'silent') return;
        await held;
        callback(refusal, 'Taken');
        if (modeFor(socketOf(session), recipientOf(session)) === 'accept, then reset')
          setImmediate(() => socketOf(session)?.resetAndDestroy());
      });
    },
  });
  // Many tests are about a client that goes away in the middle, so that is no error here.
  smtp.on('error', () => {});

  const server = net.createServer((socket) => {
    connectionOf.set(socket, connectionOf.size + 1);
    sockets.set(socket.remotePort ?? 0, socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket.remotePort ?? 0));
    if (!misbehave(socket, modeFor(socket))) smtp.server.emit('connection', socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const login = options.login ? `${options.login.user}:${encodeURIComponent(options.login.password)}@` : '';

  async function close(): Promise<void> {
    if (!server.listening) return;
    server.close();
    if (options.tls) {
      // Node crashes when the socket under a TLS handshake is destroyed, so the clients must close these sockets.
      for (const connection of smtp.connections) connection.close();
      for (const socket of sockets.values()) socket.unref();
    } else {
      const closed = once(server, 'close');
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    }
  }
  atEnd(close);

  return {
    port,
    url: `${options.tls === 'implicit' ? 'smtps' : 'smtp'}://${login}127.0.0.1:${port}`,
    /** Every message that arrived completely, whatever the answer was. */
    messages,
    /** How many connections were ever opened. */
    connectionCount: () => connectionOf.size,
    openConnections: () => sockets.size,
    /** Sets the mode of all connections, or of one connection alone. */
    setMode(next: ModeChoice, only?: { connection: number }): void {
      if (only) modeOfConnection.set(only.connection, next);
      else mode = next;
    },
    /** Answers no message from now on before the promise resolves. */
    holdUntil(released: Promise<unknown>): void {
      held = released;
    },
    /** Closes every open connection, as a server does with idle ones. */
    dropConnections(): void {
      for (const socket of sockets.values()) socket.end();
    },
    /** Waits for this many messages, or until the function accepts the messages. Returns all messages. */
    async waitFor(
      wanted: number | ((messages: readonly ReceivedMessage[]) => unknown),
      limits?: { timeoutMs?: number },
    ): Promise<readonly ReceivedMessage[]> {
      const isThere = () => (typeof wanted === 'number' ? messages.length >= wanted : wanted(messages));
      await waitFor(
        `the sink has ${typeof wanted === 'number' ? `${wanted} messages` : 'them'}`,
        isThere,
        limits,
      );
      return messages;
    },
    close,
  };
}

export type SmtpSink = Awaited<ReturnType<typeof startSmtpSink>>;

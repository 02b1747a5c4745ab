import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { Problem } from '../../shared/common/errors.ts';
import { logger } from '../../shared/common/logger.ts';
import { count } from '../../shared/common/metrics.ts';
import { config } from '../../shared/config/config.ts';
import * as mailReports from '../../shared/domain/email/mail-reports/mail-reports.ts';
import { networkIn } from '../../shared/formats/network-address.ts';
import { followCertificate } from './certificate.ts';

type LogEntry = { tnx: string; cid: string };

type ServerOptions = {
  port: number;
  address: string;
  /** A PEM file with a certificate and its key, which may be renewed; without it there is no STARTTLS. */
  tlsFile?: string | undefined;
  /** How often the file is looked at. */
  tlsEveryMs?: number;
  connections?: number;
  /** A relay opens many at a time; no other client should. */
  connectionsPerAddress?: number;
  /** Longest wait for a client's next command or piece. */
  idleMs?: number;
  /** The longest that a connection may stay open. */
  lifetimeMs?: number;
  /** With this many commands a relay hands over some hundred messages; no other client needs more. */
  commandsPerConnection?: number;
};

/** Unknown recipients after which a client is sent away. */
const maxStrangers = 5;
/** Recipients of one message. RFC 5321 §4.5.3.1.8 requires a server to take as many; a report has one. */
const maxRecipients = 100;
/** MAIL FROM and RCPT TO with all that RFC 3461 adds to their 512 bytes. */
const maxCommandLength = 2048;

/**
 * Starts an SMTP server that takes mail for return paths and complaint mailboxes, and for nobody else: there is no
 * relaying and no login. It answers 250 once the contents of a report are committed; after a 451 the sender tries
 * again.
 */
export async function startInbound({
  port,
  address,
  tlsFile,
  tlsEveryMs,
  connections = 200,
  connectionsPerAddress = 50,
  idleMs = 60_000,
  lifetimeMs = 600_000,
  commandsPerConnection = 1_000,
}: ServerOptions) {
  const sockets = new Map<Socket, string>();
  const strangers = new WeakMap<SMTPServerSession, number>();
  const commands = new Map<string, number>();
  let inFlight = 0;
  let isStopping = false;

  const certificate =
    tlsFile === undefined
      ? undefined
      : followCertificate(tlsFile, (pem) => smtp.updateSecureContext({ key: pem, cert: pem }), tlsEveryMs);
  const smtp = new SMTPServer({
    name: config.RETURN_PATH_DOMAIN ?? hostname(),
    // The library reports each command in its log only.
    logger: {
      debug: ({ tnx, cid }: LogEntry) => void (tnx === 'command' && countCommand(cid)),
      info() {},
      error() {},
    },
    disableReverseLookup: true,
    authOptional: true,
    disabledCommands: ['AUTH', ...(certificate ? [] : ['STARTTLS'])],
    ...(certificate && { key: certificate.pem, cert: certificate.pem, minVersion: 'TLSv1.2' }),
    hideSMTPUTF8: true,
    size: mailReports.largestMailBytes,
    maxCommandLength,
    socketTimeout: idleMs,
    onClose: ({ id }) => void commands.delete(id),
    onMailFrom(_sender, _session, callback) {
      callback(isStopping ? refusal(421, '4.3.2 Closing') : null);
    },
    onRcptTo({ address: recipient }, session, callback) {
      if (session.envelope.rcptTo.length >= maxRecipients)
        return callback(refusal(452, '4.5.3 Too many recipients'));
      if (mailReports.takesMailFor(recipient)) return callback(null);
      const before = strangers.get(session) ?? 0;
      strangers.set(session, before + 1);
      count('inbound_refusals', { reason: 'recipient' });
      callback(
        before < maxStrangers ? refusal(550, '5.1.1 No such mailbox') : refusal(421, '4.7.0 Too many errors'),
      );
    },
    onData(stream, session, callback) {
      inFlight += 1;
      void take(stream, session)
        .then(
          (answer) => callback(answer),
          (error: unknown) => callback(answerTo(error)),
        )
        .finally(() => {
          inFlight -= 1;
        });
    },
  });

  function countCommand(id: string): void {
    const before = commands.get(id) ?? 0;
    commands.set(id, before + 1);
    if (before !== commandsPerConnection) return;
    count('inbound_refusals', { reason: 'commands' });
    for (const connection of smtp.connections)
      if (connection.id === id) connection.send(421, '4.7.0 Too many commands', false);
  }

  // For example, a client went away in the middle, or its TLS handshake failed.
  smtp.on('error', (error) => logger.debug({ err: error }, 'inbound'));

  const server = net.createServer((socket) => {
    const from = networkIn(socket.remoteAddress ?? '') ?? 'unknown';
    const ofSame = [...sockets.values()].filter((one) => one === from).length;
    socket.on('error', () => undefined);
    if (sockets.size >= connections || ofSame >= connectionsPerAddress) {
      count('inbound_refusals', { reason: 'connections' });
      socket.end('421 4.7.0 Too many connections, try again later\r\n', () => socket.destroy());
      return;
    }
    sockets.set(socket, from);
    const timer = setTimeout(() => socket.destroy(), lifetimeMs);
    socket.once('close', () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
    smtp.server.emit('connection', socket);
  });
  server.listen(port, address);
  await once(server, 'listening');

  /**
   * Stops the server, after the messages in flight have been stored. The sender of a message that has not arrived whole
   * by then sends it again.
   */
  async function stop(graceMs: number): Promise<void> {
    isStopping = true;
    certificate?.stop();
    const closed = once(server, 'close');
    server.close();
    for (const end = performance.now() + graceMs; inFlight > 0 && performance.now() < end; ) await sleep(20);
    // `end` lets the last answer go out before the socket is destroyed.
    for (const socket of sockets.keys()) socket.end(() => socket.destroy());
    await closed;
  }

  return { port: (server.address() as AddressInfo).port, inFlight: () => inFlight, stop };
}

async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Error | null> {
  const recipients = session.envelope.rcptTo.map(({ address }) => address);
  const raw = await mailReports.headOf(stream);
  if (!raw) return refusal(552, '5.3.4 Message too large');
  const sender = networkIn(session.remoteAddress) ?? 'unknown';
  const outcome = await mailReports.receive(raw, { recipients, sender });
  logger.info({ outcome, from: session.remoteAddress }, 'message received');
  const isReport = outcome !== 'no_report' && outcome !== 'unreadable';
  return !isReport && recipients.some(mailReports.isFeedbackAddress)
    ? refusal(550, '5.6.0 Only feedback reports (RFC 5965) are read here')
    : null;
}

/**
 * Returns the answer to an error. A message that cannot be read now cannot be read later either, so it is refused for
 * good. No other error loses a report, because the sender keeps the message and tries again.
 */
function answerTo(error: unknown): Error {
  if (error instanceof Problem && error.code === 'validation_failed') {
    logger.info({ err: error }, 'message refused');
    return refusal(554, `5.6.0 ${error.options.detail}`);
  }
  if (error instanceof Problem) logger.debug({ err: error }, 'a report could not be taken yet');
  else logger.error({ err: error }, 'a report could not be taken');
  count('email_reports', { outcome: 'deferred' });
  return refusal(451, '4.3.0 Try again later');
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

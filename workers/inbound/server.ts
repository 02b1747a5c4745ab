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

type LogEntry = { tnx: string; cid: string };

type Options = {
  port: number;
  address: string;
  /** A certificate with its key in PEM; without it there is no STARTTLS. */
  tls?: Buffer;
  connections?: number;
  /** A relay sends us many at a time; nobody else should. */
  connectionsPerAddress?: number;
  /** Longest wait for a client's next command or piece. */
  idleMs?: number;
  /** Longest that a connection may be there at all. */
  lifetimeMs?: number;
  /** A relay hands over some hundred messages with so many; nobody else has use for them. */
  commandsPerConnection?: number;
};

/** Unknown recipients after which a client is sent away. */
const maxStrangers = 5;
/** Of one message: RFC 5321 §4.5.3.1.8 has a server take as many, and a report has one. */
const maxRecipients = 100;
/** MAIL FROM and RCPT TO with all that RFC 3461 adds to their 512 bytes. */
const maxCommandLength = 2048;

/**
 * Takes mail for return paths and complaint mailboxes, and none for anyone else: there is no relaying and no login. 250
 * is said when what the message reports is committed; 451 has the sender come again.
 */
export async function startInbound({
  port,
  address,
  tls,
  connections = 200,
  connectionsPerAddress = 50,
  idleMs = 60_000,
  lifetimeMs = 600_000,
  commandsPerConnection = 1_000,
}: Options) {
  const sockets = new Map<Socket, string>();
  const strangers = new WeakMap<SMTPServerSession, number>();
  const commands = new Map<string, number>();
  let inHand = 0;
  let isStopping = false;

  const smtp = new SMTPServer({
    name: config.RETURN_PATH_DOMAIN ?? hostname(),
    // The library tells of each command in its log only.
    logger: {
      debug: ({ tnx, cid }: LogEntry) => void (tnx === 'command' && countCommand(cid)),
      info() {},
      error() {},
    },
    disableReverseLookup: true,
    authOptional: true,
    disabledCommands: ['AUTH', ...(tls ? [] : ['STARTTLS'])],
    ...(tls && { key: tls, cert: tls, minVersion: 'TLSv1.2' }),
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
      inHand += 1;
      void take(stream, session)
        .then(
          (answer) => callback(answer),
          (error: unknown) => callback(answerTo(error)),
        )
        .finally(() => {
          inHand -= 1;
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

  // A client that goes away in the middle, or does not manage TLS.
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

  /** Lets the messages in hand be written down; what has not come in whole by then comes again. */
  async function stop(graceMs: number): Promise<void> {
    isStopping = true;
    const closed = once(server, 'close');
    server.close();
    for (const end = performance.now() + graceMs; inHand > 0 && performance.now() < end; ) await sleep(20);
    // The last answer is on its way out.
    for (const socket of sockets.keys()) socket.end(() => socket.destroy());
    await closed;
  }

  return { port: (server.address() as AddressInfo).port, inHand: () => inHand, stop };
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

/** A message that cannot be read would not be later. Any other fault loses no report, because its sender keeps it. */
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

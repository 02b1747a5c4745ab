import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import { TransportFault, type TransportFaultReason } from './hand-over.ts';
import { detailOf, type Relay } from './relay.ts';

// The deadline of the hand-over counts, and the pool closes idle connections, so the library's own timers must never
// fire.
const neverMs = 2 ** 31 - 1;

/** Opens a session that is ready for MAIL FROM. Throws a TransportFault. `signal` ends the attempt at any point. */
export async function openSession(
  relay: Relay,
  signal: AbortSignal,
): Promise<{ session: SMTPConnection; socket: net.Socket }> {
  const socket = await openSocket(relay, signal);
  const session = new SMTPConnection({ ...sessionOptions(relay), connection: socket });
  // A connection that breaks while nobody waits for it would otherwise be an uncaught error.
  session.on('error', () => {});
  const end = (): void => session.close();
  signal.addEventListener('abort', end, { once: true });
  try {
    await handshake(session, relay);
    return { session, socket };
  } catch (error) {
    session.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function openSocket(relay: Relay, signal: AbortSignal): Promise<net.Socket> {
  const at = { host: relay.host, port: relay.port };
  const socket = relay.tls === 'implicit' ? tls.connect({ ...at, ...serverName(relay) }) : net.connect(at);
  let reached = false;
  socket.once('connect', () => {
    reached = true;
  });
  try {
    await once(socket, relay.tls === 'implicit' ? 'secureConnect' : 'connect', { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
    const { syscall, code, message } = error as NodeJS.ErrnoException;
    const reason = reached ? 'tls' : syscall === 'getaddrinfo' ? 'dns' : 'connection';
    throw new TransportFault(reason, `${relay.host}:${relay.port}: ${message || code}`);
  }
}

function sessionOptions(relay: Relay): SMTPConnectionOptions {
  return {
    host: relay.host,
    port: relay.port,
    secure: relay.tls === 'implicit',
    secured: relay.tls === 'implicit',
    requireTLS: relay.tls === 'required',
    ignoreTLS: relay.tls === 'never',
    tls: { ...serverName(relay), rejectUnauthorized: relay.tls !== 'when_offered' },
    name: relay.name,
    connectionTimeout: neverMs,
    greetingTimeout: neverMs,
    socketTimeout: neverMs,
    // close() is only for connections that are broken or late; all others end with QUIT.
    socketCloseTimeout: 0,
  };
}

function serverName(relay: Relay): { servername?: string } {
  return net.isIP(relay.host) ? {} : { servername: relay.host };
}

type SmtpError = SMTPConnection.SMTPError;

async function handshake(session: SMTPConnection, relay: Relay): Promise<void> {
  const { login } = relay;
  await step(session, (done) => session.connect(done)).catch((error: SmtpError) => {
    throw fault(relay, session.upgrading || error.code === 'ETLS' ? 'tls' : 'greeting', error);
  });
  if (!login) return;
  if (!session.allowsAuth)
    throw new TransportFault('login', 'the relay offers no AUTH, but SMTP_URL has a password');
  await step(session, (done) => session.login({ user: login.user, pass: login.password }, done)).catch(
    (error: SmtpError) => {
      throw fault(relay, error.response ? 'login' : 'connection', error);
    },
  );
}

function fault(relay: Relay, reason: TransportFaultReason, error: SmtpError): TransportFault {
  const said = error.response ? `the relay said ${error.response}` : error.message;
  return new TransportFault(reason, detailOf(relay, `${relay.host}:${relay.port}: ${said}`));
}

/**
 * Runs one step of a session. The library calls back, or emits 'error', or only 'end', depending on when the
 * connection breaks.
 */
export function step(
  session: SMTPConnection,
  run: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => settle(new Error('The connection was closed'));
    function settle(error?: Error | null): void {
      session.off('error', settle).off('end', end);
      if (error) reject(error);
      else resolve();
    }
    session.once('error', settle).once('end', end);
    run(settle);
  });
}

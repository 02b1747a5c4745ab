import * as net from 'node:net';
import { networkInterfaces } from 'node:os';
import * as tls from 'node:tls';
import { LRUCache } from 'lru-cache';
import { literalAddress, type Network, parseNetworks } from '../../formats/network-address.ts';
import type { Resolve } from './names.ts';

/**
 * Opens a connection for a webhook to exactly the addresses that were checked, so a name that changes in between has no
 * effect. One forbidden address blocks the whole answer, because no honest name mixes forbidden and public addresses.
 */

export type ConnectionFailure = 'dns' | 'connection' | 'tls' | 'blocked_address';

export class ConnectError extends Error {
  readonly failure: ConnectionFailure;
  constructor(failure: ConnectionFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectError';
    this.failure = failure;
  }
}

export type ConnectOptions = {
  resolve: Resolve;
  isForbidden: (address: string) => boolean;
  /** Connections are made from this address only. */
  localAddress?: string | undefined;
  /** Certificates that are trusted instead of the system's. */
  ca?: string | undefined;
};

type Target = { protocol: string; hostname: string; port: string };
type Opened = (error: Error | null, socket: net.Socket | null) => void;
export type Connect = (target: Target, opened: Opened) => Cancel;
/** Gives up with this reason, unless the connection was made or has failed. */
type Cancel = (reason: Error) => void;

/**
 * The time for one address before the next one is tried: a lost packet of the handshake can be sent again (RFC 6298:
 * after 1 s).
 */
const addressMs = 2_000;

type Sessions = LRUCache<string, Buffer>;
const mostSessions = 1_000;

export function createConnect(options: ConnectOptions): Connect {
  const sessions: Sessions = new LRUCache({ max: mostSessions });

  return (target, opened) => {
    let current: net.Socket | undefined;
    let over = false;
    const finish: Opened = (error, socket) => {
      if (over) {
        socket?.destroy();
        return;
      }
      over = true;
      if (error) current?.destroy();
      opened(error, socket);
    };
    const watch = (socket: net.Socket) => {
      current = socket;
      if (over) socket.destroy();
    };
    addressesOf(target.hostname, options)
      .then((addresses) => openTcp(addresses, target, options, watch))
      .then((socket) =>
        target.protocol === 'https:' ? openTls(socket, target, options, sessions, watch) : socket,
      )
      .then(
        (socket) => finish(null, socket),
        (error: Error) => finish(error, null),
      );
    return (reason) => finish(reason, null);
  };
}

const ownKeptMs = 10_000;
let ownKnown: { networks: Network[]; at: number } | undefined;

/**
 * Returns the addresses of this machine's interfaces. A webhook must not reach the platform by its public address,
 * past the proxy and the firewall in front of it. They are read again now and then, because they may change.
 */
export function ownNetworks(): readonly Network[] {
  const at = performance.now();
  if (!ownKnown || at - ownKnown.at > ownKeptMs) {
    const addresses = Object.values(networkInterfaces()).flatMap((listed = []) => listed);
    ownKnown = { networks: parseNetworks(addresses.map(({ address }) => address)), at };
  }
  return ownKnown.networks;
}

async function addressesOf(hostname: string, options: ConnectOptions): Promise<readonly string[]> {
  const literal = literalAddress(hostname);
  const { isForbidden: forbidden } = options;
  const refused = () =>
    new ConnectError('blocked_address', `${hostname} leads to an address that webhooks may not reach`);
  let addresses: readonly string[];
  if (literal !== null) addresses = [literal];
  else if (/(^|\.)localhost\.?$/i.test(hostname)) {
    // RFC 6761 §6.3: DNS is never asked for localhost. If one address family is allowed, a forbidden other one does
    // no harm.
    addresses = ['127.0.0.1', '::1'].filter((address) => !forbidden(address));
    if (addresses.length === 0) throw refused();
  } else
    addresses = await options.resolve(hostname).catch((error: unknown) => {
      throw new ConnectError('dns', `${hostname} has no address`, error);
    });
  if (addresses.some(forbidden)) throw refused();
  const { localAddress } = options;
  const reachable = localAddress
    ? addresses.filter((address) => net.isIP(address) === net.isIP(localAddress))
    : addresses;
  if (reachable.length === 0)
    throw addresses.length === 0
      ? new ConnectError('dns', `${hostname} has no address`)
      : new ConnectError('connection', `${hostname} has no address of the family of ${localAddress}`);
  return reachable;
}

/** Tries one address after the other. */
async function openTcp(
  addresses: readonly string[],
  target: Target,
  options: ConnectOptions,
  watch: (socket: net.Socket) => void,
): Promise<net.Socket> {
  let failure: unknown;
  for (const [index, host] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    try {
      const socket = await openOne(host, target, options, isLast ? undefined : addressMs, watch);
      // The last check is on the address that the connection really reached.
      const { remoteAddress } = socket;
      if (remoteAddress && !options.isForbidden(remoteAddress)) return socket;
      socket.destroy();
      // Without a remote address, the other side has already closed.
      if (remoteAddress)
        throw new ConnectError(
          'blocked_address',
          `${target.hostname} connected to an address that webhooks may not reach`,
        );
      failure = new Error('closed');
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      failure = error;
    }
  }
  throw new ConnectError('connection', `no connection to ${target.hostname}`, failure);
}

function openOne(
  host: string,
  { protocol, port }: Target,
  { localAddress }: ConnectOptions,
  limitMs: number | undefined,
  watch: (socket: net.Socket) => void,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({
      host,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      noDelay: true,
      ...(localAddress ? { localAddress } : {}),
    });
    const slow = () => socket.destroy(new Error(`no answer from ${host}`));
    const timer = limitMs === undefined ? undefined : setTimeout(slow, limitMs);
    socket.once('close', () => clearTimeout(timer));
    settle(socket, 'connect', (error) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(socket);
    });
    watch(socket);
  });
}

function openTls(
  socket: net.Socket,
  { hostname, port }: Target,
  { ca }: ConnectOptions,
  sessions: Sessions,
  watch: (socket: net.Socket) => void,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const name = hostname.replace(/\.$/, '');
    const key = `${name}:${port}`;
    const session = sessions.get(key);
    const secure = tls.connect({
      socket,
      host: name,
      // RFC 6066 §3: an address is no server name; the certificate is still checked against it.
      ...(net.isIP(name) ? {} : { servername: name }),
      ALPNProtocols: ['http/1.1'],
      ...(session ? { session } : {}),
      ...(ca ? { ca } : {}),
    });
    settle(secure, 'secureConnect', (error) => {
      if (error) reject(new ConnectError('tls', `no TLS with ${hostname}`, error));
      else resolve(secure);
    });
    // Resuming spares both ends the handshake's asymmetric cryptography.
    secure.on('session', (ticket) => sessions.set(key, ticket));
    watch(secure);
  });
}

/** Calls back once. Afterwards a connected socket has no listeners of ours, and a failed one ignores further errors. */
function settle(socket: net.Socket, event: 'connect' | 'secureConnect', done: (error?: Error) => void): void {
  const ready = () => {
    socket.off('error', failed);
    socket.off('close', closed);
    done();
  };
  const failed = (error: Error) => {
    socket.off(event, ready);
    socket.off('close', closed);
    socket.on('error', () => {});
    done(error);
  };
  const closed = () => failed(new Error('closed'));
  socket.once(event, ready);
  socket.once('error', failed);
  socket.once('close', closed);
}

import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../processes/free-port.ts';
import { atEnd } from '../runner/at-end.ts';

/**
 * Starts a proxy that plays a faulty network to the server of this URL (MySQL, Redis, SMTP, an endpoint). `url` is the
 * same URL through the proxy. At first everything passes.
 */
export async function startTcpProxy(targetUrl: string, defaultPort?: number) {
  let target = addressOf(targetUrl, defaultPort);
  const sockets = new Set<net.Socket>();
  const line = {
    latencyMs: 0,
    frozen: undefined as PromiseWithResolvers<void> | undefined,
    /** How many pieces of data have passed; when `passed` reaches `cutAt`, every connection is reset. */
    passed: 0,
    cutAt: Number.POSITIVE_INFINITY,
  };

  async function carry(from: net.Socket, to: net.Socket): Promise<void> {
    // By default the loop destroys the socket when its reading half ends, and the answer would be lost.
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      if (line.latencyMs > 0) await sleep(line.latencyMs);
      while (line.frozen) await line.frozen.promise;
      if (line.passed >= line.cutAt) {
        line.cutAt = Number.POSITIVE_INFINITY;
        return resetAll();
      }
      line.passed += 1;
      if (!to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
    }
    while (line.frozen) await line.frozen.promise;
    to.end();
  }
  function resetAll(): void {
    for (const socket of sockets) socket.resetAndDestroy();
  }
  function accept(client: net.Socket): void {
    const server = net.connect({ ...target, allowHalfOpen: true });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.resetAndDestroy());
      socket.on('close', () => sockets.delete(socket));
      // A reset also ends `carry` with an error, which the socket has reported already.
      carry(socket, other).catch(() => undefined);
    }
  }

  let listener = net.createServer({ allowHalfOpen: true }, accept);
  async function listen(port: number): Promise<void> {
    listener = net.createServer({ allowHalfOpen: true }, accept);
    await once(listener.listen(port, '127.0.0.1'), 'listening');
  }
  const port = await freePort();
  await listen(port);
  const throughLine = new URL(targetUrl);
  throughLine.hostname = '127.0.0.1';
  throughLine.port = String(port);

  function thaw(): void {
    line.frozen?.resolve();
    line.frozen = undefined;
  }
  const proxy = {
    port,
    url: throughLine.href,
    /** How many connections are open through the proxy. */
    connections: () => sockets.size / 2,
    /** Everything passes again, with no delay. */
    async pass(): Promise<void> {
      line.latencyMs = 0;
      line.cutAt = Number.POSITIVE_INFINITY;
      thaw();
      if (!listener.listening) await listen(port);
    },
    /** As if the server had ended: open connections are reset, and new ones are refused. */
    refuse(): void {
      listener.close();
      resetAll();
    },
    /** Every open connection is reset, once; new ones pass. */
    cut: resetAll,
    /** Cuts once this many more pieces of data have passed. A piece is usually one statement or one answer. */
    cutAfter(pieces: number): void {
      line.cutAt = line.passed + pieces;
    },
    /** How many pieces of data have passed. */
    passed: () => line.passed,
    /** As if the server hung: connections are accepted and stay open, and no data passes in either direction. */
    freeze(): void {
      line.frozen ??= Promise.withResolvers<void>();
    },
    /** Every piece of data takes this much longer, in each direction. */
    delay(latencyMs: number): void {
      line.latencyMs = latencyMs;
    },
    /** New connections go to that server; open connections stay at the old one. */
    redirect(url: string): void {
      target = addressOf(url, defaultPort);
    },
    close(): void {
      thaw();
      listener.close();
      resetAll();
    },
  };
  atEnd(() => proxy.close());
  return proxy;
}

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** Returns the host and port to connect to. Throws if the URL names no port and there is no default. */
export function addressOf(serverUrl: string, defaultPort?: number): { host: string; port: number } {
  const { protocol, host, hostname, port } = new URL(serverUrl);
  const number = Number(port) || defaultPort;
  if (!number) throw new Error(`${protocol}//${host} names no port`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: number };
}

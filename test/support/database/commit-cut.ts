import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { atEnd } from '../runner/at-end.ts';

/** `before`: the server never gets the statement. `after`: the server has run it. In both cases no answer comes. */
export type Moment = 'before' | 'after';

type Order = {
  moment: Moment;
  statement: RegExp;
  isCut: boolean;
  /** The order begins to match only after a statement like this one has passed, on any connection. */
  behind: RegExp | null;
  /** The server gets this statement in place of the client's, and the client gets the answer to it. */
  instead?: string;
  happened: PromiseWithResolvers<string>;
};

type Given = Omit<Order, 'happened' | 'behind'> & { behind?: RegExp | null };

const commands = { query: 0x03, prepare: 0x16, execute: 0x17 };
const headerBytes = 4;

/**
 * Starts a proxy to the MySQL at this URL. The proxy reads the statements of clients, and cuts a connection at the
 * statement that an order names, by default at COMMIT. Everything else passes unchanged.
 */
export async function startCommitCut(targetUrl: string) {
  const target = new URL(targetUrl);
  const orders: Order[] = [];
  const sockets = new Set<net.Socket>();

  function accept(client: net.Socket): void {
    const server = net.connect(Number(target.port) || 3306, target.hostname);
    const nextStatement = reader();
    let unread: Buffer = Buffer.alloc(0);
    let endAtAnswer: (() => void) | undefined;
    let isHeld = false;
    const end = (order: Order, sql: string) => {
      isHeld = true;
      if (order.isCut) for (const socket of [client, server]) socket.resetAndDestroy();
      order.happened.resolve(sql);
    };
    client.on('data', (chunk) => {
      if (isHeld) return;
      unread = Buffer.concat([unread, chunk]);
      for (let packet = firstPacket(unread); packet; packet = firstPacket(unread)) {
        unread = unread.subarray(packet.length);
        const sql = nextStatement.said(packet);
        const order = sql === undefined ? undefined : take(orders, sql);
        if (order?.instead) {
          packet = textPacket(order.instead, packet);
          order.happened.resolve(order.instead);
        } else if (order && sql !== undefined) {
          if (order.moment === 'before') return end(order, sql);
          endAtAnswer = () => end(order, sql);
        }
        server.write(packet);
      }
    });
    server.on('data', (chunk) => {
      if (isHeld) return;
      if (endAtAnswer) return endAtAnswer();
      nextStatement.answered(chunk);
      if (!client.write(chunk)) {
        server.pause();
        client.once('drain', () => server.resume());
      }
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => other.resetAndDestroy());
      socket.on('end', () => other.end());
      socket.on('close', () => sockets.delete(socket));
    }
  }

  const listener = net.createServer(accept).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  function order({ behind = null, ...given }: Given): Promise<string> {
    const happened = Promise.withResolvers<string>();
    orders.push({ ...given, behind, happened });
    return happened.promise;
  }
  const line = {
    url: url.href,
    /**
     * At the next statement like this, on any connection, resets that connection on both sides. The promise resolves
     * with the statement once this has happened.
     */
    cutNext: (moment: Moment, statement: RegExp = /^COMMIT$/i) => order({ moment, statement, isCut: true }),
    /**
     * As `cutNext`, but the connection stays open and silent, until one side closes it. `behind`: only after a
     * statement like that one has passed.
     */
    holdNext: (moment: Moment, statement: RegExp = /^COMMIT$/i, { behind }: { behind?: RegExp } = {}) =>
      order({ moment, statement, isCut: false, behind: behind ?? null }),
    /**
     * Replaces the next text statement like this one with another one, before it reaches the server. So a single server
     * can give an answer that only a cluster would give.
     */
    replaceNext: (instead: string, statement: RegExp = /^COMMIT$/i) =>
      order({ moment: 'before', statement, isCut: false, instead }),
    /** Cancels all orders that have not been carried out yet. */
    pass(): void {
      orders.length = 0;
    },
    close(): void {
      listener.close();
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
  atEnd(() => line.close());
  return line;
}

export type CommitCut = Awaited<ReturnType<typeof startCommitCut>>;

function take(orders: Order[], sql: string): Order | undefined {
  const index = orders.findIndex(({ statement, behind }) => behind === null && statement.test(sql));
  for (const order of orders) if (order.behind?.test(sql)) order.behind = null;
  return index < 0 ? undefined : orders.splice(index, 1)[0];
}

function firstPacket(bytes: Buffer): Buffer | undefined {
  if (bytes.length < headerBytes) return undefined;
  const length = headerBytes + bytes.readUIntLE(0, 3);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

/** Follows one connection and finds the statement that a packet runs: as text, or by a prepared statement's number. */
function reader() {
  const prepared = new Map<number, string>();
  let preparing: { sql: string; answer: Buffer } | undefined;
  return {
    said(packet: Buffer): string | undefined {
      // A command is packet number 0 of a new count; a client's packets after the greeting have other numbers.
      if (packet.length <= headerBytes || packet[3] !== 0) return undefined;
      const [command, payload] = [packet[headerBytes], packet.subarray(headerBytes + 1)];
      if (command === commands.query) return textOf(payload);
      if (command === commands.prepare) preparing = { sql: payload.toString(), answer: Buffer.alloc(0) };
      return command === commands.execute ? prepared.get(payload.readUInt32LE(0)) : undefined;
    },
    answered(chunk: Buffer): void {
      if (!preparing) return;
      preparing.answer = Buffer.concat([preparing.answer, chunk]);
      // Header, 0 for "prepared", the number of the statement.
      if (preparing.answer.length < headerBytes + 5) return;
      if (preparing.answer[headerBytes] === 0)
        prepared.set(preparing.answer.readUInt32LE(headerBytes + 1), preparing.sql);
      preparing = undefined;
    },
  };
}

/** MySQL 8 has two counts before the text of a statement: query attributes (0) and sets of them (1). */
const hasAttributes = (payload: Buffer) => payload[0] === 0 && payload[1] === 1;

function textOf(payload: Buffer): string {
  return (hasAttributes(payload) ? payload.subarray(2) : payload).toString();
}

/** Makes the packet of a text statement, in the form that the client of the `other` packet uses. */
function textPacket(sql: string, other: Buffer): Buffer {
  const attributes = hasAttributes(other.subarray(headerBytes + 1)) ? [0, 1] : [];
  const payload = Buffer.concat([Buffer.from([commands.query, ...attributes]), Buffer.from(sql)]);
  const header = Buffer.alloc(headerBytes);
  header.writeUIntLE(payload.length, 0, 3);
  return Buffer.concat([header, payload]);
}

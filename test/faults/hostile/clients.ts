import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Hostile clients in a process of their own: `node clients.ts KIND PORT COUNT`, with the KEYS and SENDERS of workspaces
 * in the environment. The process writes its counts as a line of JSON after changes; the last line counts.
 */
export type Seen = {
  /** Connections that are open, and those that the server has closed. */
  open: number;
  closed: number;
  /** Status -> how many answers with it. */
  statuses: Record<string, number>;
};

const [kind, port, count] = process.argv.slice(2);
const [keys, senders] = ['KEYS', 'SENDERS'].map((name) => (process.env[name] ?? '').split(',')) as [
  string[],
  string[],
];
const seen: Seen = { open: 0, closed: 0, statuses: {} };
let isChanged = true;

type Options = { reads?: boolean };

/** Opens a connection. A closed one is replaced only where the client asks for a new one. */
function open({ reads = true }: Options = {}): Promise<net.Socket> {
  const socket = net.connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }).setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => {
    seen.open -= 1;
    seen.closed += 1;
    isChanged = true;
  });
  if (reads)
    socket.on('data', (chunk) => {
      for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g)) note(status!);
    });
  socket.on('end', () => socket.end());
  return new Promise((resolve) => {
    seen.open += 1;
    socket.once('connect', () => resolve(socket));
    socket.once('close', () => resolve(socket));
  });
}

function note(status: string): void {
  seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
  isChanged = true;
}

/** Sends a piece each time, for as long as the server lets it. */
async function drip(socket: net.Socket, piece: () => string | Buffer, everyMs: number): Promise<void> {
  while (socket.writable) {
    socket.write(piece());
    await sleep(everyMs);
  }
}

const authorization = (index: number) => `Host: a\r\nAuthorization: Bearer ${keys[index % keys.length]}\r\n`;
const post = (length: number, index: number) =>
  `POST /v2/email HTTP/1.1\r\n${authorization(index)}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const get = (target: string, lines = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;

/** Returns 20 MB of JSON, which is a valid email. */
function largeBody(index: number): Buffer {
  const content = randomBytes(14_900_000).toString('base64');
  const attachments = [{ filename: 'a.bin', contentType: 'application/octet-stream', content }];
  const email = { sender: senders[index % senders.length], recipient: 'ada@example.com', subject: 'Large' };
  return Buffer.from(JSON.stringify({ ...email, content: { text: 'A text' }, attachments }));
}

const extremes = [
  get('/', `X: ${'x'.repeat(20_000)}\r\n`),
  get(`/${'x'.repeat(16_000)}`),
  get('/v2/email', Array.from({ length: 1_000 }, (_, index) => `X-${index}: y\r\n`).join('')),
  get('/v2/email', 'Cookie: a=b; c=d\r\n'.repeat(700)),
  get('/v2/email', 'a:\r\n'.repeat(3_900)),
  get(`/v2/email?${'a=b&'.repeat(3_000)}`),
  get(`/${'../'.repeat(4_000)}`),
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  randomBytes(2_000),
  `POST /v2/email HTTP/1.1\r\n${authorization(0)}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
];

/** The work of one client of each kind, `index` being its number. Some kinds connect again after a pause. */
const clients: Record<string, (index: number) => Promise<void>> = {
  /** Half of the clients send nothing, the other half send one request. */
  async idle(index) {
    const socket = await open();
    if (index % 2 === 1) socket.write(get('/health/live'));
  },
  async 'slow headers'() {
    const socket = await open();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
    await drip(socket, () => 'X', 500);
  },
  async 'slow body'(index) {
    const socket = await open();
    // Every fifth request has no key.
    socket.write(post(100_000, index).replace(index % 5 === 0 ? /Authorization.*\r\n/ : '', ''));
    await drip(socket, () => ' ', 500);
  },
  async extreme(index) {
    for (let at = index; ; at += 1) {
      const socket = await open();
      socket.write(extremes[at % extremes.length]!);
      // Every second request is followed by the end of the client's direction only.
      if (at % 2 === 0) socket.end();
      await sleep(200);
      if (at % 3 === 0) socket.resetAndDestroy();
    }
  },
  async pipelining() {
    for (;;) {
      const socket = await open({ reads: false });
      await drip(socket, () => get('/health/ready').repeat(500), 500);
      await sleep(500);
    }
  },
  async unread() {
    const socket = await open({ reads: false });
    for (let times = 0; times < 20; times += 1) socket.write(get('/openapi.json'));
    await drip(socket, () => get('/assets/scalar.js'), 1_000);
  },
  async large(index) {
    const body = largeBody(index);
    for (;;) {
      const socket = await open();
      socket.write(post(body.length, index));
      const answered = new Promise<void>((resolve) => {
        socket.once('data', () => resolve()).once('close', () => resolve());
      });
      socket.write(body);
      await answered;
      socket.destroy();
      await sleep(500);
    }
  },
};

if (import.meta.main) {
  const behave = clients[kind!]!;
  setInterval(() => {
    if (isChanged) console.log(JSON.stringify(seen));
    isChanged = false;
  }, 100);
  // The clients start in groups: some systems have a short queue of new connections, and a full one costs a second.
  for (let index = 0; index < Number(count); index += 1) {
    void behave(index);
    if (index % 100 === 99) await sleep(10);
  }
}

import net from 'node:net';
import { crc32 } from 'node:zlib';
import { awaitable, listenOn, serve } from '../serve.ts';

/** A customer's endpoint that says 200 at once: counts deliveries, sums up their bodies, keeps the first few whole. */

export interface Received {
  deliveries: number;
  /** Webhook-Ids that came more than once. */
  duplicates: number;
  bytes: number;
  /** The sum of the checksums of all bodies, which does not depend on their order. */
  checksum: number;
}
export interface Sample {
  head: string;
  body: string;
}

const headEnd = Buffer.from('\r\n\r\n');
const ok = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok');
const mostSamples = 3;
let received: Received = { deliveries: 0, duplicates: 0, bytes: 0, checksum: 0 };
let ids = new Set<string>();
let samples: Sample[] = [];
const { look, reach } = awaitable(() => received.deliveries);

function take(head: string, body: Buffer): void {
  const id = /\r\nwebhook-id: ([^\r]+)/i.exec(head)?.[1] ?? '';
  received.deliveries += 1;
  if (ids.has(id)) received.duplicates += 1;
  ids.add(id);
  received.bytes += body.length;
  received.checksum += crc32(body);
  if (samples.length < mostSamples) samples.push({ head, body: body.toString() });
  look();
}

function listen(socket: net.Socket): void {
  let rest: Buffer | undefined;
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    rest = undefined;
    while (bytes.length > 0) {
      const end = bytes.indexOf(headEnd);
      const head = end < 0 ? '' : bytes.toString('latin1', 0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (end < 0 || bytes.length < end + 4 + length) {
        rest = bytes;
        return;
      }
      take(head, bytes.subarray(end + 4, end + 4 + length));
      socket.write(ok);
      bytes = bytes.subarray(end + 4 + length);
    }
  });
  socket.on('error', () => undefined);
}

const server = net.createServer({ noDelay: true }, listen);

serve({
  listen: () => listenOn(server),
  reset: () => {
    received = { deliveries: 0, duplicates: 0, bytes: 0, checksum: 0 };
    [ids, samples] = [new Set(), []];
  },
  /** Resolves when `count` deliveries have come since the reset. */
  reach,
  received: () => received,
  samples: () => samples,
});

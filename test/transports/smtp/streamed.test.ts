import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createSmtpPool, type SmtpPool } from '../../../shared/transports/smtp/pool.ts';
import { parseRelayUrl } from '../../../shared/transports/smtp/relay.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';

let pool: SmtpPool;
afterEach(() => pool.close());

const poolTo = (url: string, timeoutMs = 20_000) =>
  (pool = createSmtpPool({ relay: parseRelayUrl(url), connections: 2, timeoutMs }));
const head = Buffer.from('From: hello@acme.example\r\n\r\n');

/** Makes a message of these pieces; a piece that is an error is thrown in its place. */
function streamed(pieces: (Buffer | Error)[], sizeBytes?: number) {
  const all = [head, ...pieces];
  return {
    envelopeFrom: 'hello@acme.example',
    envelopeTo: 'ada@example.com',
    message: {
      sizeBytes:
        sizeBytes ?? all.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : 0), 0),
      open: async function* () {
        for (const piece of all) {
          // Each piece comes from the database, so it takes a moment.
          await sleep(1);
          if (!Buffer.isBuffer(piece)) throw piece;
          yield piece;
        }
      },
    },
  };
}
const small = { ...streamed([]), message: Buffer.concat([head, Buffer.from('Small\r\n')]) };
const lines = (text: string, count: number) => Buffer.from(`${text}\r\n`.repeat(count));

test('every byte of a streamed message arrives, whatever its pieces are', async () => {
  const sink = await startSmtpSink({ maxMessageBytes: 10_000_000 });
  poolTo(sink.url);
  const pieces = [
    Buffer.from('.\r\n..\r\n'),
    Buffer.from('.'),
    Buffer.from('.dot\r'),
    Buffer.from('\n'),
    Buffer.alloc(0),
    lines('.x', 100_000),
    lines('y', 50_000),
  ];
  const email = streamed(pieces);
  expect(await pool.handOver(email)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages[0]!.raw.equals(Buffer.concat([head, ...pieces]))).toBe(true);
  expect(sink.messages[0]!.parameters).toMatchObject({ SIZE: String(email.message.sizeBytes) });
});

test.each([
  ['at once', []],
  ['after a little', [lines('x', 10)]],
  ['after much', [lines('x', 200_000)]],
])(
  'a message that cannot be read to its end, %s, is not taken by the relay, and is no fault of it',
  async (_name, before) => {
    const sink = await startSmtpSink();
    poolTo(sink.url);
    const email = streamed([...before, new Error('the database went away'), lines('end', 5)]);
    expect(await pool.handOver(email)).toEqual({ kind: 'unread', detail: 'the database went away' });
    expect(await pool.handOver(small)).toMatchObject({ kind: 'accepted' });
    expect(sink.messages.map(({ raw }) => raw.toString())).toEqual([small.message.toString()]);
  },
);

test.each([
  ['shorter', 1_000_000],
  ['longer', 100_000],
])('a message that is %s than was said is not taken', async (_name, sizeBytes) => {
  const sink = await startSmtpSink();
  poolTo(sink.url);
  expect(await pool.handOver(streamed([lines('x', 100_000)], sizeBytes))).toMatchObject({ kind: 'unread' });
  expect(await pool.handOver(small)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages).toHaveLength(1);
});

test('a connection that breaks in the middle is a fault of the transport, one that breaks at the end is uncertain', async () => {
  const sink = await startSmtpSink();
  poolTo(sink.url);
  sink.setMode('drop in DATA');
  expect(await pool.handOver(streamed([lines('x', 500_000)]))).toMatchObject({
    kind: 'transport_fault',
    reason: 'connection',
  });
  sink.setMode('drop after the dot');
  expect(await pool.handOver(streamed([lines('x', 500)]))).toMatchObject({ kind: 'uncertain' });
});

test('what is refused after its end is answered for, and the next email goes out whole', async () => {
  const sink = await startSmtpSink();
  poolTo(sink.url);
  sink.setMode('554 after the dot');
  expect(await pool.handOver(streamed([lines('x', 500)]))).toMatchObject({ kind: 'refused', code: 554 });
  sink.setMode('accept');
  expect(await pool.handOver(small)).toMatchObject({ kind: 'accepted' });
  expect(sink.messages.at(-1)!.raw.toString()).toBe(small.message.toString());
});

// Shows F30
test('a message that never goes on is given up at the deadline', async () => {
  const sink = await startSmtpSink();
  poolTo(sink.url, 500);
  const email = streamed([]);
  const message = {
    sizeBytes: 1_000,
    open: async function* () {
      yield head;
      await new Promise(() => {});
    },
  };
  expect(await pool.handOver({ ...email, message })).toMatchObject({
    kind: 'transport_fault',
    reason: 'timeout',
  });
  expect(sink.messages).toEqual([]);
});

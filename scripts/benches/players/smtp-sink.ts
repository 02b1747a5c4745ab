import net from 'node:net';
import { awaitable, listenOn, serve } from '../serve.ts';
import { type Latency, latencyOf } from '../statistics.ts';

/**
 * A mail server that takes everything and keeps only counts, and whole messages for some recipients. It speaks the
 * part of SMTP that a client needs (RFC 5321 §4.5.1), with one write for each answer.
 */

export interface Taken {
  messages: number;
  /** Recipients that got more than one. */
  duplicates: number;
  bytes: number;
}

/** Messages whose address says when they were requested: `at-{milliseconds}-…`. */
export interface Timed extends Latency {
  codes: number;
  duplicates: number;
}

const dot = Buffer.from('\r\n.\r\n');
const lineEnd = Buffer.from('\r\n');
let taken: Taken = { messages: 0, duplicates: 0, bytes: 0 };
let recipients = new Set<string>();
let samples = new Map<string, string>();
let kept = new Set<string>();
let latencies: number[] = [];
let timedNames = new Set<string>();
const all = awaitable(() => taken.messages);
const timed = awaitable(() => latencies.length);

function time(recipient: string): void {
  timedNames.add(recipient);
  latencies.push(performance.timeOrigin + performance.now() - Number(recipient.split('-')[1]));
  timed.look();
}

function converse(socket: net.Socket): void {
  let bytes: Buffer = Buffer.alloc(0);
  /** The pieces of a message that has not ended yet. */
  let begun: Buffer[] = [];
  let inMessage = false;
  let recipient = '';

  function take(message: Buffer): void {
    taken.messages += 1;
    taken.bytes += message.length;
    if (recipients.has(recipient)) taken.duplicates += 1;
    recipients.add(recipient);
    if (recipient.startsWith('at-')) time(recipient);
    if (kept.has(recipient)) samples.set(recipient, message.toString('latin1').replaceAll('\r\n..', '\r\n.'));
    all.look();
  }

  function answer(line: string): string {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') return '250-sink.example\r\n250-8BITMIME\r\n250 SIZE 52428800\r\n';
    if (verb === 'RCPT') recipient = line.slice(line.indexOf('<') + 1, line.indexOf('>'));
    if (verb === 'DATA') {
      inMessage = true;
      return '354 go ahead\r\n';
    }
    if (verb === 'QUIT') return '221 bye\r\n';
    return ['MAIL', 'RCPT', 'RSET', 'NOOP', 'HELO'].includes(verb) ? '250 ok\r\n' : '502 no\r\n';
  }

  socket.on('data', (chunk: Buffer) => {
    bytes = bytes.length > 0 ? Buffer.concat([bytes, chunk]) : chunk;
    let replies = '';
    for (;;) {
      const end = bytes.indexOf(inMessage ? dot : lineEnd);
      if (end < 0) break;
      if (inMessage) {
        const rest = bytes.subarray(0, end + 2);
        take(begun.length > 0 ? Buffer.concat([...begun, rest]) : rest);
        [begun, inMessage] = [[], false];
        replies += '250 taken\r\n';
        bytes = bytes.subarray(end + dot.length);
      } else {
        replies += answer(bytes.toString('latin1', 0, end));
        bytes = bytes.subarray(end + lineEnd.length);
      }
    }
    if (inMessage) {
      // The end mark of a message may be cut in two.
      const whole = Math.max(0, bytes.length - dot.length + 1);
      begun.push(bytes.subarray(0, whole));
      bytes = bytes.subarray(whole);
    }
    if (replies) socket.write(replies);
    if (replies.startsWith('221')) socket.end();
  });
  socket.on('error', () => undefined);
  socket.write('220 sink.example ESMTP\r\n');
}

const server = net.createServer({ noDelay: true }, converse);

serve({
  listen: () => listenOn(server),
  reset: (recipientsToKeep: string[]) => {
    taken = { messages: 0, duplicates: 0, bytes: 0 };
    [latencies, timedNames] = [[], new Set()];
    [recipients, samples, kept] = [new Set(), new Map(), new Set(recipientsToKeep)];
  },
  /** Resolves when `count` messages have come since the reset. */
  reach: all.reach,
  taken: () => taken,
  resetTimed: () => {
    [latencies, timedNames] = [[], new Set()];
  },
  reachTimed: timed.reach,
  timed: (): Timed => ({
    codes: timedNames.size,
    duplicates: latencies.length - timedNames.size,
    ...latencyOf(latencies),
  }),
  samples: () => Object.fromEntries(samples),
});

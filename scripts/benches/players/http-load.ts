import net from 'node:net';
import { serve } from '../serve.ts';
import { type Latency, latencyOf } from '../statistics.ts';
import { type Proof, prover } from './proof.ts';

/**
 * Posts without pause over kept connections. Requests are made beforehand, except for the parts that differ in each
 * one, and only the length and status of answers are read. So on a small machine the load takes little of what it
 * measures.
 */

export interface Load {
  /** The ports of the processes that share the load, each with as many connections. */
  ports: number[];
  path: string;
  headers: Record<string, string>;
  /** Taken in turn. */
  bodies: string[];
  connections: number;
  proof?: Proof;
}
export interface Measured extends Latency {
  count: number;
  ms: number;
}
/** Status -> how many answers with it. */
export type Answers = Record<string, number>;

const headEnd = Buffer.from('\r\n\r\n');
let makeRequest: (index: number) => Buffer | string = () => '';
let variants = 0;
let sockets: net.Socket[] = [];
let next = 0;
let answered = 0;
let inFlight = 0;
let isStopping = false;
let isMeasuring = false;
let latencies: number[] = [];
let answers: Answers = {};
let drained = Promise.withResolvers<void>();

async function start(load: Load): Promise<void> {
  const parts = load.bodies.map((body) => {
    const headers = {
      Host: `127.0.0.1:${load.ports[0]}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...load.headers,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return { head: `POST ${load.path} HTTP/1.1\r\n${lines.join('')}`, rest: `\r\n${body}` };
  });
  variants = parts.length;
  if (load.proof) {
    const prove = prover(load.proof, load.path, load.bodies);
    makeRequest = (index) => parts[index]!.head + prove(index) + parts[index]!.rest;
  } else {
    const whole = parts.map(({ head, rest }) => Buffer.from(head + rest));
    makeRequest = (index) => whole[index]!;
  }
  [next, answered, inFlight, isStopping, answers] = [0, 0, 0, false, {}];
  drained = Promise.withResolvers();
  sockets = await Promise.all(
    Array.from({ length: load.connections }, (_, index) => open(load.ports[index % load.ports.length]!)),
  );
  for (const socket of sockets) drive(socket);
}

function open(port: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.on('error', reject);
  });
}

function drive(socket: net.Socket): void {
  let rest: Buffer | undefined;
  let sentAt = 0;
  const send = () => {
    if (isStopping) return;
    sentAt = performance.now();
    inFlight += 1;
    socket.write(makeRequest(next));
    next = (next + 1) % variants;
  };
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    const end = bytes.indexOf(headEnd);
    const head = end < 0 ? '' : bytes.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (end >= 0 && Number.isNaN(length)) return fail(new Error(`An answer without a length: ${head}`));
    rest = end < 0 || bytes.length < end + 4 + length ? bytes : undefined;
    if (rest) return;
    const status = head.slice(9, 12);
    answers[status] = (answers[status] ?? 0) + 1;
    answered += 1;
    inFlight -= 1;
    if (isMeasuring) latencies.push(performance.now() - sentAt);
    if (isStopping && inFlight === 0) drained.resolve();
    send();
  });
  socket.on('close', () => isStopping || fail(new Error('The server closed a connection')));
  send();
}

function fail(error: Error): void {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}

async function measure(ms: number): Promise<Measured> {
  [latencies, isMeasuring] = [[], true];
  const [from, startedAt] = [answered, performance.now()];
  await new Promise((resolve) => setTimeout(resolve, ms));
  isMeasuring = false;
  const elapsedMs = performance.now() - startedAt;
  const count = answered - from;
  return { count, ms: elapsedMs, ...latencyOf(latencies) };
}

/** Stops sending, waits for pending answers, and returns the number of answers for each status since the start. */
async function stop(): Promise<Answers> {
  isStopping = true;
  if (inFlight > 0) await drained.promise;
  for (const socket of sockets) socket.destroy();
  return answers;
}

serve({ start, measure, stop });

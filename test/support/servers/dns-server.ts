import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv4, type Server } from 'node:net';
import { atEnd } from '../runner/at-end.ts';

export type DnsAnswer =
  | { addresses: readonly string[]; ttl?: number }
  /** Each text is split into strings of 255 bytes. */
  | { texts: readonly string[] }
  /** A CNAME record, whatever was asked for. */
  | { alias: string }
  | 'unknown'
  | 'failure'
  | 'silent';
export type DnsQuestion = { name: string; type: 'A' | 'AAAA' | 'TXT' | 'CNAME' };

export type DnsServer = {
  /** `address:port`. */
  address: string;
  questions: DnsQuestion[];
};

const types = { 1: 'A', 5: 'CNAME', 16: 'TXT', 28: 'AAAA' } as const;
const responseCodes = { failure: 2, unknown: 3 };
// The most bytes that a resolver takes in one UDP packet (RFC 9715); a longer answer goes over TCP.
const longestPacket = 1_232;

/**
 * Starts a name server (RFC 1035) that gives the answers of `answer`: over UDP, or over TCP when they are too long for
 * UDP. A question for A gets only the IPv4 addresses, one for AAAA only the IPv6 addresses.
 */
export async function startDnsServer(
  answer: (question: DnsQuestion, questions: DnsQuestion[]) => DnsAnswer,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  const replyTo = (query: Buffer): Buffer | null => {
    const { name, end } = readName(query, 12);
    const type = types[query.readUInt16BE(end) as keyof typeof types];
    const question = { name: name.toLowerCase(), type };
    questions.push(question);
    const given = answer(question, questions);
    return given === 'silent' ? null : reply(query, end + 4, type, given);
  };
  const { port, close } = await listen(replyTo);
  atEnd(close);
  return { address: `127.0.0.1:${port}`, questions };
}

async function listen(replyTo: (query: Buffer) => Buffer | null) {
  // A port that is free for TCP may be taken for UDP, because every question to a name server takes a UDP port.
  for (;;) {
    const tcp = await listenOnTcp(replyTo);
    const { port } = tcp.address() as AddressInfo;
    const udp = await listenOnUdp(port, replyTo);
    const close = () => {
      udp?.close();
      tcp.close();
    };
    if (udp) return { port, close };
    close();
  }
}

async function listenOnTcp(replyTo: (query: Buffer) => Buffer | null): Promise<Server> {
  const tcp = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const whole = replyTo((data as Buffer).subarray(2));
      if (!whole) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(whole.length);
      socket.end(Buffer.concat([length, whole]));
    });
  }).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  return tcp;
}

/** Returns null when the port is taken. */
async function listenOnUdp(port: number, replyTo: (query: Buffer) => Buffer | null): Promise<Socket | null> {
  const udp = createSocket('udp4');
  udp.on('message', (query, from) => {
    const whole = replyTo(query);
    if (whole) udp.send(whole.length > longestPacket ? truncated(query) : whole, from.port, from.address);
  });
  udp.bind(port, '127.0.0.1');
  try {
    await once(udp, 'listening');
    return udp;
  } catch (error) {
    udp.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}

/** Returns the question alone, marked as truncated: the client then asks again over TCP. */
function truncated(query: Buffer): Buffer {
  const { end } = readName(query, 12);
  const packet = Buffer.from(query.subarray(0, end + 4));
  packet.writeUInt16BE(0x8380, 2);
  packet.writeUInt16BE(0, 10);
  return packet;
}

function readName(packet: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

function reply(
  query: Buffer,
  questionEnd: number,
  type: DnsQuestion['type'],
  answer: Exclude<DnsAnswer, 'silent'>,
) {
  const records = typeof answer === 'string' ? [] : recordsOf(query, questionEnd, type, answer);
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? responseCodes[answer] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(12, questionEnd), ...records]);
}

function recordsOf(
  query: Buffer,
  questionEnd: number,
  type: DnsQuestion['type'],
  answer: Exclude<DnsAnswer, string>,
): Buffer[] {
  const asked = query.readUInt16BE(questionEnd - 4);
  if ('texts' in answer) return answer.texts.map((text) => record(asked, stringsOf(text), 0));
  if ('alias' in answer) return [record(5, nameBytes(answer.alias), 0)];
  return answer.addresses
    .filter((address) => isIPv4(address) === (type === 'A'))
    .map((address) => record(asked, addressBytes(address), answer.ttl ?? 0));
}

function record(type: number, data: Buffer, ttl: number): Buffer {
  const head = Buffer.alloc(12);
  // A pointer to the name in the question (RFC 1035 §4.1.4).
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function stringsOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += 255) {
    const part = bytes.subarray(at, at + 255);
    parts.push(Buffer.from([part.length]), part);
  }
  return Buffer.concat(parts);
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string) => (text ? text.split(':') : []);
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array<string>(missing).fill('0'), ...groups(right)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

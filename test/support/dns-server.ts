import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { atEnd } from './at-end.ts';

export type DnsAnswer = { addresses: readonly string[]; ttl?: number } | 'unknown' | 'failure' | 'silent';
export type DnsQuestion = { name: string; type: 'A' | 'AAAA' };

export type DnsServer = {
  /** `address:port`. */
  address: string;
  questions: DnsQuestion[];
};

const types = { 1: 'A', 28: 'AAAA' } as const;
const responseCodes = { failure: 2, unknown: 3 };

/** A name server (RFC 1035, UDP) that answers as it is told; of the addresses, each question gets its own family's. */
export async function startDnsServer(
  answer: (question: DnsQuestion, questions: DnsQuestion[]) => DnsAnswer,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = readName(query, 12);
    const type = types[query.readUInt16BE(end) as keyof typeof types];
    const question = { name: name.toLowerCase(), type };
    questions.push(question);
    const given = answer(question, questions);
    if (given !== 'silent') socket.send(reply(query, end + 4, type, given), from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  atEnd(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
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

function reply(query: Buffer, questionEnd: number, type: 'A' | 'AAAA', answer: Exclude<DnsAnswer, 'silent'>) {
  const given = typeof answer === 'string' ? [] : answer.addresses;
  const addresses = given.filter((address) => isIPv4(address) === (type === 'A'));
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? responseCodes[answer] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const ttl = typeof answer === 'string' ? 0 : (answer.ttl ?? 0);
  return Buffer.concat([
    header,
    query.subarray(12, questionEnd),
    ...addresses.map((address) => record(address, query.readUInt16BE(questionEnd - 4), ttl)),
  ]);
}

function record(address: string, type: number, ttl: number): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.alloc(12);
  // A pointer to the name in the question (RFC 1035 §4.1.4).
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string) => (text ? text.split(':') : []);
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array<string>(missing).fill('0'), ...groups(right)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

import net from 'node:net';

const patienceMs = 3_000;
/** A mail server that does not want the message answers at once; one that does not know says nothing. */
const promptMs = 300;

/** All that comes back for these bytes, until the server closes; what it does not close is cut. */
export const exchange = (port: number, bytes: Buffer): Promise<string> => converse(port, [{ bytes }]);

/**
 * The same for a session with a mail server, which speaks first, and takes a message when it has said so: a client that
 * does not wait for either is sent away.
 */
export function exchangeMail(port: number, bytes: Buffer): Promise<string> {
  const data = bytes.indexOf('\r\nDATA\r\n');
  const end = data < 0 ? bytes.length : data + 8;
  return converse(port, [
    { bytes: bytes.subarray(0, end), after: /^220 /m },
    { bytes: bytes.subarray(end), after: /^354 /m },
  ]);
}

type Piece = { bytes: Buffer; after?: RegExp };

function converse(port: number, pieces: Piece[]): Promise<string> {
  const socket = net.connect({ port, host: '127.0.0.1' }).setNoDelay(true);
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = '';
  let impatience: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => socket.destroy(), patienceMs);
  function goOn(isDue = false): void {
    const [next] = pieces;
    if (!next || socket.destroyed || !(isDue || !next.after || next.after.test(received))) return;
    pieces.shift();
    socket.write(next.bytes);
    clearTimeout(impatience);
    impatience = setTimeout(() => goOn(true), promptMs);
  }
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    goOn();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(timer);
    clearTimeout(impatience);
    resolve(received);
  });
  goOn();
  return promise;
}

/** With their values in the places of the names in braces; where the length was that of the body, it still is. */
export function filled(bytes: Buffer, values: ReadonlyMap<string, string>): Buffer {
  const text = bytes.toString('latin1');
  const whole = text.replace(/\{([\w.]+)\}/g, (found, name: string) => values.get(name) ?? found);
  const [, before] = /\r\nContent-Length: (\d+)\r\n/.exec(text) ?? [];
  const lengthOf = (all: string) => all.length - all.indexOf('\r\n\r\n') - 4;
  return Buffer.from(
    before !== undefined && Number(before) === lengthOf(text)
      ? whole.replace(`\r\nContent-Length: ${before}\r\n`, `\r\nContent-Length: ${lengthOf(whole)}\r\n`)
      : whole,
    'latin1',
  );
}

/** The status of an HTTP answer; null where there is none. */
export const statusOf = (answer: string): number | null =>
  Number(/^HTTP\/1\.1 (?!100)(\d{3}) /.exec(answer.replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, ''))?.[1] ?? 0) ||
  null;

/** Nothing that a stranger sends is a fault of ours. */
export const faultOfAnswer = (answer: string): string | null =>
  (statusOf(answer) ?? 0) >= 500 ? `answered ${answer.slice(0, 1_500)}` : null;

/** Whether the request is to be tried again, such as the second of two changes of one record at the same time. */
export const isToRepeat = (fault: string): boolean =>
  /^answered HTTP\/1\.1 503 [^]*\r\nRetry-After: \d/.test(fault);

/** The reply code to the message, where one came. */
export function replyCodeOf(answer: string): string | null {
  const codes = [...answer.matchAll(/^(\d{3}) /gm)].map(([, code]) => code!);
  return codes.findLast((code) => code !== '221') ?? null;
}

/** 451 is what the mail server says of a fault of ours. */
export function faultOfReplies(answer: string): string | null {
  const [reply] = /^451 .*/m.exec(answer) ?? [];
  return reply === undefined ? null : `answered ${reply}`;
}

import net from 'node:net';

const patienceMs = 3_000;
/** The longest wait for a reply before the next bytes are sent: a server that refuses a message answers sooner. */
const promptMs = 300;

/** Sends the bytes and returns the whole answer, until the server closes or the time is over. */
export const exchange = (port: number, bytes: Buffer): Promise<string> => converse(port, [{ bytes }]);

/**
 * Sends a session to a mail server and returns all replies. The client waits for the greeting and for the reply to
 * DATA, because the server disconnects a client that does not wait.
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

/** Replaces the names in braces by their values; a Content-Length that was right is corrected. */
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

/** Returns the status of an HTTP answer, or null if there is none. */
export const statusOf = (answer: string): number | null =>
  Number(/^HTTP\/1\.1 (?!100)(\d{3}) /.exec(answer.replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, ''))?.[1] ?? 0) ||
  null;

/** Returns the fault of an answer with a 5xx: no input of a stranger may cause an internal error. */
export const faultOfAnswer = (answer: string): string | null =>
  (statusOf(answer) ?? 0) >= 500 ? `answered ${answer.slice(0, 1_500)}` : null;

/** Returns whether the request is to be tried again, such as the second of two simultaneous changes of one record. */
export const isToRepeat = (fault: string): boolean =>
  /^answered HTTP\/1\.1 503 [^]*\r\nRetry-After: \d/.test(fault);

/** Returns the reply code to the message, or null if none came. */
export function replyCodeOf(answer: string): string | null {
  const codes = [...answer.matchAll(/^(\d{3}) /gm)].map(([, code]) => code!);
  return codes.findLast((code) => code !== '221') ?? null;
}

/** Returns the fault of the replies: the mail server answers an internal error with 451. */
export function faultOfReplies(answer: string): string | null {
  const [reply] = /^451 .*/m.exec(answer) ?? [];
  return reply === undefined ? null : `answered ${reply}`;
}

import net from 'node:net';
import { atEnd } from '../runner/at-end.ts';

/**
 * Calls `tell` for every command that any client sends to this Redis, from now until the file ends. It uses a plain
 * socket: ioredis takes a line that comes together with the answer to MONITOR for the answer to a command, and breaks.
 */
export async function monitorRedis(url: string, tell: (args: string[]) => void): Promise<void> {
  const { hostname, port, username, password } = new URL(url);
  const socket = net.connect(Number(port), hostname).setEncoding('latin1');
  atEnd(() => socket.destroy());
  const { promise: isListening, resolve, reject } = Promise.withResolvers<void>();
  let unread = '';
  let accepted = 0;
  socket.on('error', reject);
  socket.on('data', (chunk: string) => {
    const lines = (unread + chunk).split('\r\n');
    unread = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('-')) reject(new Error(line));
      else if (line !== '+OK') tell(argumentsIn(line));
      else if ((accepted += 1) === 2) resolve();
  });
  socket.write(`AUTH ${username || 'default'} ${password}\r\nMONITOR\r\n`);
  await isListening;
}

const letters: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b' };

/** Returns the arguments in a line such as `+1795460637.19 [0 127.0.0.1:48566] "get" "a\xc3\xbc"`, as text. */
function argumentsIn(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => {
    const bytes = quoted.replaceAll(
      /\\(?:x([0-9a-f]{2})|(.))/g,
      (_all, hex: string | undefined, one: string) =>
        hex === undefined ? (letters[one] ?? one) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return Buffer.from(bytes, 'latin1').toString();
  });
}

import { once } from 'node:events';
import net from 'node:net';
import { atEnd } from '../../support/runner/at-end.ts';

/** Opens a connection to the server at this address and sends the text. */
export async function openRaw(url: string, text: string | Buffer): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  atEnd(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Returns the head of a POST; a `length` of null means a chunked body. */
export function headOf({ key }: { key: string }, path: string, length: number | null): string {
  const framing = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
}

import { once } from 'node:events';
import net from 'node:net';
import { atEnd } from '../runner/at-end.ts';
import { waitFor } from '../time/wait-for.ts';

/** Opens a connection that sends exactly the bytes it is given and keeps everything that comes back. */
export async function connectSmtp(port: number) {
  const socket = net.connect({ port, host: '127.0.0.1' });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').catch(() => undefined);
  atEnd(() => void socket.destroy());
  await once(socket, 'connect');
  let seen = 0;

  /** Waits for the next reply and returns its last line. */
  async function reply(): Promise<string> {
    const [text] = await waitFor('the server answers', () =>
      /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(received.slice(seen)),
    );
    seen += text.length;
    return text.trim().split('\r\n').at(-1)!;
  }
  return {
    socket,
    closed,
    received: () => received,
    reply,
    async say(line: string): Promise<string> {
      socket.write(`${line}\r\n`);
      return reply();
    },
  };
}

/** Hands a message over as a mail server does. Returns the answers in order, up to the first refusal. */
export async function sendMail(
  port: number,
  to: string | string[],
  message: Buffer,
  from = '',
): Promise<string[]> {
  const client = await connectSmtp(port);
  const answers = [await client.reply(), await client.say('EHLO relay.example')];
  const lines = [`MAIL FROM:<${from}>`, ...[to].flat().map((one) => `RCPT TO:<${one}>`), 'DATA'];
  for (const line of lines) {
    const answer = await client.say(line);
    answers.push(answer);
    if (/^[45]/.test(answer)) break;
  }
  if (answers.at(-1)!.startsWith('354')) {
    const text = message.toString('latin1').replace(/^\./gm, '..');
    client.socket.write(Buffer.from(text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1'));
    answers.push(await client.say('.'));
  }
  client.socket.end('QUIT\r\n');
  await client.closed;
  return answers;
}

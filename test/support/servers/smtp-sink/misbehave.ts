import type { Socket } from 'node:net';

/** Actions that no mail library would take. A mode holds for connections opened from then on. */
const misbehaviours = {
  'drop in the banner': (socket: Socket) => socket.end('220 sink.exa'),
  '421 greeting': (socket: Socket) => socket.end('421 4.3.2 Too busy\r\n'),
  'hang in the banner': (socket: Socket) => void socket.write('220-sink.example\r\n220'),
  'STARTTLS fails': (socket: Socket) => converse(socket, offerStartTls('454 4.7.0 TLS is not available\r\n')),
  'TLS handshake fails': failHandshake,
  'one byte a second': (socket: Socket) => converse(socket, plainly, dripSlowly),
  'refuses early': (socket: Socket) => converse(socket, refuseEarly),
} as const;

export type Misbehaviour = keyof typeof misbehaviours;

/** Takes the connection over if the mode asks for it, and returns whether it did. */
export function misbehave(socket: Socket, mode: string): boolean {
  if (!Object.hasOwn(misbehaviours, mode)) return false;
  misbehaviours[mode as Misbehaviour](socket);
  return true;
}

type Answer = (line: string) => string | null;
type Say = (socket: Socket, text: string) => void;

const sayAtOnce: Say = (socket, text) => void socket.write(text);

function dripSlowly(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    socket.write(text[at++] ?? '');
    if (at >= text.length) clearInterval(timer);
  }, 1000);
  socket.on('close', () => clearInterval(timer));
}

function converse(socket: Socket, answer: Answer, say: Say = sayAtOnce): void {
  let rest = '';
  say(socket, '220 sink.example ESMTP\r\n');
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const reply = answer(line);
      if (reply) say(socket, reply);
    }
  });
}

const plainly: Answer = (line) => (/^(EHLO|MAIL|RCPT)/i.test(line) ? '250 Fine\r\n' : null);

function offerStartTls(reply: string): Answer {
  return (line) =>
    /^EHLO/i.test(line) ? '250-sink.example\r\n250 STARTTLS\r\n' : /^STARTTLS/i.test(line) ? reply : null;
}

/** Offers TLS and answers the handshake in the clear. */
function failHandshake(socket: Socket): void {
  const answer = offerStartTls('220 Go ahead\r\n');
  socket.write('220 sink.example ESMTP\r\n');
  // A TLS handshake has no lines, so each chunk is answered.
  socket.on('data', (chunk) => socket.write(answer(chunk.toString('latin1')) ?? 'This is no handshake\r\n'));
}

/** Answers a message after its first line, while the rest is still coming. */
const refuseEarly: Answer = (line) =>
  /^(EHLO|MAIL|RCPT|RSET|QUIT)/i.test(line)
    ? '250 Fine\r\n'
    : line === 'DATA'
      ? '354 Go on\r\n'
      : line.startsWith('From: ')
        ? '552 5.3.4 Too much\r\n'
        : null;

import { createHash } from 'node:crypto';
import type { ReceivedMessage, SmtpSink } from '../../support/servers/smtp-sink.ts';

/** One message that came to the mail server whole. */
export type Copy = {
  /** Exact to the pause between two polls. */
  atMs: number;
  messageId: string;
  /** The Idempotency-Key of the request that brought it, by its subject. */
  reference: string;
  recipient: string;
  /** Hash of all bytes of the message. */
  hash: string;
  /** The server's answer; null if it gave none. */
  answer: number | null;
};

/** Word of the subject of every email of the load; the Idempotency-Key follows. */
export const subjectWord = 'Storm';

const pollEveryMs = 50;

/** Takes the messages out of the sink as they come, and keeps the fields that the checks need. */
export function followSink(sink: SmtpSink, keep: (copy: Copy) => void) {
  const look = () => {
    const atMs = Date.now();
    for (const message of sink.messages.splice(0)) keep(copyOf(message, atMs));
  };
  const timer = setInterval(look, pollEveryMs);
  return {
    close: () => {
      clearInterval(timer);
      look();
    },
  };
}

function copyOf({ raw, envelope, answer }: ReceivedMessage, atMs: number): Copy {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, end < 0 ? raw.length : end + 2);
  return {
    atMs,
    messageId: /^Message-ID: (.*)\r$/im.exec(head)?.[1] ?? '',
    reference: new RegExp(`^Subject: ${subjectWord} (\\S+)`, 'im').exec(head)?.[1] ?? '',
    recipient: envelope.to.join(','),
    hash: createHash('sha256').update(raw).digest('base64').slice(0, 22),
    answer,
  };
}

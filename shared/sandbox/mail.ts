import type { IncomingMail } from '../formats/email/mail-report.ts';
import { lazyPool, openPoolOf } from './pool.ts';
import { type MailJob, mailRuns } from './protocol.ts';
import { startThread } from './thread-handle.ts';

export type ReadResult<T> =
  | { ok: true; read: T }
  /** The message cannot be read, now or later. `fault` completes a sentence that starts with "The message". */
  | { ok: false; fault: string; busy?: never }
  /** Too many messages of this sender wait, or this one waited for 10 s. The caller may try again later. */
  | { ok: false; busy: true; fault?: never };

/** With two threads a sender can block one thread at most, and leaves the other one to other senders. */
const threads = 2;
const heapMb = 96;
const crash = 'could not be read';

const pool = lazyPool(() =>
  openPoolOf(threads, {
    name: 'mail',
    start: (events) => startThread('mail', heapMb, events),
    spares: 0,
    waitMs: 10_000,
    runs: mailRuns,
    words: {
      'out of time': `takes longer than ${mailRuns.full.kill / 1000} s to read`,
      'out of memory': `needs more than ${heapMb} MB to read`,
      crash,
    },
  }),
);
export const { close: closeMailThreads, stats: mailThreadStats } = pool;

/**
 * Reads a stranger's message, or its beginning, in another thread, which is killed if necessary. Senders take turns.
 * Rejects when the threads are closed meanwhile, or for a fault of ours.
 */
export function readMail(sender: string, raw: Uint8Array): Promise<ReadResult<IncomingMail>> {
  return run(sender, { kind: 'mail', raw });
}

/** Reads only the part of a message that one of these keys has signed; null if no signature verifies. */
export function readSignedMail(
  sender: string,
  raw: Uint8Array,
  signed: { keys: ReadonlyMap<string, readonly string[]>; at: Date },
): Promise<ReadResult<IncomingMail | null>> {
  return run(sender, { kind: 'mail', raw, signed });
}

async function run<T>(sender: string, job: MailJob): Promise<ReadResult<T>> {
  const outcome = await pool.opened().run({
    workspaceId: sender,
    // The queue expects the mail of a sender to take as long as the mail before, whatever its content.
    source: `${sender} ${job.signed ? 'signed' : ''}`,
    message: { ...job, raw: alone(job.raw) },
    length: job.raw.length,
  });
  if (outcome.outcome === 'busy') return { ok: false, busy: true };
  if (outcome.outcome === 'done') return { ok: true, read: JSON.parse(outcome.outputs[0]!) as T };
  const [{ message: fault } = { message: crash }] = outcome.faults;
  // Throws, so that the sender keeps the message: a later release may be able to read it.
  if (fault === crash) throw new Error('A message ended the thread that read it');
  return { ok: false, fault };
}

/** Copies a small buffer. Such a buffer shares its memory with others, and the thread would get all of that memory. */
function alone(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength === bytes.byteLength ? bytes : new Uint8Array(bytes);
}

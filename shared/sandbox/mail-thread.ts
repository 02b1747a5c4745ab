import { parentPort, workerData } from 'node:worker_threads';
import { systemThreadId } from '../common/thread-cpu.ts';
import { loadVerifier } from '../formats/email/mail-report/signatures.ts';
import { readMail, readSignedMail, TooComplex } from '../formats/email/mail-report.ts';
import { cpuMs } from '../formats/templates/liquid-limits.ts';
import {
  type Batch,
  type MailJob,
  marks,
  marksIn,
  type ThreadJob,
  type ThreadResult,
  type Unmeasured,
} from './protocol.ts';
import { seal } from './seal.ts';

/** The entry of a sandbox thread: only here does the platform read mail from strangers. */
if (!parentPort) throw new Error('mail-thread.ts runs as a worker thread only');
const port = parentPort;
const mine = marksIn(workerData as SharedArrayBuffer);
Atomics.store(mine.counts, marks.systemId, systemThreadId());
const unsealed = seal();

async function read({ raw, signed }: MailJob): Promise<Unmeasured> {
  try {
    const mail = signed ? await readSignedMail(raw, signed.keys, signed.at) : readMail(raw);
    return { outcome: 'done', outputs: [JSON.stringify(mail)] };
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return { outcome: 'failed', faults: [{ part: 0, message: error.message }], outOfTime: false };
  }
}

async function answer(job: ThreadJob, index: number): Promise<ThreadResult> {
  if (job.kind !== 'mail') throw new Error(`${job.kind} is not for this thread`);
  // Loads the verifier before the time of the job begins, because loading takes a while and is not the sender's fault.
  if (job.signed) await unsealed(loadVerifier);
  const startMs = cpuMs();
  mine.cpuMs[0] = startMs;
  Atomics.store(mine.counts, marks.job, index);
  Atomics.add(mine.counts, marks.begun, 1);
  const result = await read(job);
  Atomics.add(mine.counts, marks.ended, 1);
  return { ...result, milliseconds: cpuMs() - startMs };
}

async function answerAll(jobs: ThreadJob[]): Promise<void> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  for (const [index, job] of jobs.entries()) port.postMessage([await answer(job, index)]);
}

// A rejection ends the thread, and the pool sees that.
port.on('message', ({ jobs }: Batch) => void answerAll(jobs));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
port.postMessage([]);

import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { generateDkimKey } from '../formats/email/dkim.ts';

/** The entry of the thread that makes keys. */
if (!parentPort) throw new Error('thread.ts runs as a worker thread only');
const port = parentPort;

const lowPriority = 10;
// On Linux this lowers the priority of this thread only. Elsewhere the number 0 means the whole process.
if (process.platform === 'linux') setPriority(0, lowPriority);

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
port.on('message', () => port.postMessage(generateDkimKey()));

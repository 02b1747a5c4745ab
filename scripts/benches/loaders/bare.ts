import fs from 'node:fs';
import { Queue } from 'bullmq';
import { openRedis, prefix } from '../bare/connections.ts';
import type { MailJob } from '../bare/email-out.ts';
import { rendered } from '../bare/render.ts';
import type { TextJob } from '../bare/sms-out.ts';
import type { PostJob } from '../bare/webhooks-out.ts';
import { largeEmail, textOf } from '../content.ts';
import { serve } from '../serve.ts';

/** Fills the queues of the bare minimum. */
interface Range {
  queue: string;
  first: number;
  count: number;
}

const jobsAtOnce = 1_000;
const opts = { removeOnComplete: true, removeOnFail: true };
const connection = openRedis();
const queues = new Map<string, Queue>();

function queueOf(name: string): Queue {
  const queue = queues.get(name) ?? new Queue(name, { connection, prefix, skipVersionCheck: true });
  queues.set(name, queue);
  return queue;
}

async function add({ queue, first, count }: Range, dataOf: (index: number) => object): Promise<void> {
  for (let start = first; start < first + count; start += jobsAtOnce) {
    const length = Math.min(jobsAtOnce, first + count - start);
    const jobs = Array.from({ length }, (_, index) => ({ name: 'job', data: dataOf(start + index), opts }));
    await queueOf(queue).addBulk(jobs);
  }
}

function addEmails({ isRendered, ...range }: Range & { isRendered: boolean }): Promise<void> {
  return add(range, (index): MailJob => {
    const email = largeEmail(index);
    if (!isRendered) return { ...email, index };
    const { template: _, ...rest } = email;
    return { ...rest, content: rendered(email, ['html', 'text']), index };
  });
}

/** A line of the file is the body of a delivery. */
function addPosts({ file, ...range }: Range & { file: string }): Promise<void> {
  const bodies = fs.readFileSync(file, 'utf8').split('\n');
  return add(
    range,
    (index): PostJob => ({ id: `delivery_${String(index).padStart(26, '0')}`, body: bodies[index]! }),
  );
}

function addTexts(range: Range): Promise<void> {
  return add(range, (index): TextJob => ({ index, ...textOf(index) }));
}

serve({
  addEmails,
  addTexts,
  addPosts,
  pause: (name: string) => queueOf(name).pause(),
  resume: (name: string) => queueOf(name).resume(),
});

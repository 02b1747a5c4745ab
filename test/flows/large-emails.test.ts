// @slow: emails of 30 MB go through processes of the platform.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { query } from '../../shared/db/client.ts';
import { customerOf } from '../support/api/customer.ts';
import { workspace } from '../support/data/factory.ts';
import { letter } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { cpuSlowdown, mainThreadCpuMs } from '../support/processes/cpu-time.ts';
import { freesBuffersEarly, startWeb, startWorkerProcess } from '../support/processes/processes.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const emails = 4;
const attachmentBytes = 30_000_000;

/** Returns the most memory that the process has ever had, in MB. */
function peakMb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

// Shows F7
test('four emails of 30 MB at once fit into little memory and hold nobody else up', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const sink = await startSmtpSink();
  const nodeOptions = freesBuffersEarly;
  const [web, worker] = await Promise.all([
    startWeb({}, { nodeOptions }),
    startWorkerProcess(['send-email', 'sweep'], { SMTP_URL: sink.url }, { nodeOptions }),
  ]);
  const bytes = randomBytes(attachmentBytes);
  const content = Buffer.from(bytes.toString('base64'));

  // A raw request: the client would serialize each body anew, in the process that measures the CPU time of web.
  async function postLarge(parts: Buffer[]): Promise<number> {
    const { statusCode, body } = await request(`${web.url}/v2/email`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.key}`, 'content-type': 'application/json' },
      body: Buffer.concat(parts),
    });
    await body.dump();
    return statusCode;
  }
  const large = (index: number) => {
    const attachments = [{ filename: 'Bericht für März.pdf', contentType: 'application/pdf', content: '' }];
    const json = JSON.stringify(letter(own, { recipient: `large-${index}@example.com`, attachments }));
    const at = json.indexOf('"content":""') + '"content":"'.length;
    return [Buffer.from(json.slice(0, at)), content, Buffer.from(json.slice(at))];
  };
  const neighbour = customerOf(web.url, other);
  const small = async () => (await neighbour.post('/v2/email', { body: letter(other) })).status;
  for (let count = 0; count < 20; count += 1) expect(await small()).toBe('queued');

  const before = { web: peakMb(web.pid), worker: peakMb(worker.pid) };
  /** CPU times of the main thread of web, for all requests, while one small request was open. */
  const computedMs: number[] = [];
  let isOver = false;
  const meanwhile = (async () => {
    while (!isOver) {
      const from = mainThreadCpuMs(web.pid);
      expect(await small()).toBe('queued');
      computedMs.push(mainThreadCpuMs(web.pid) - from);
      // The small requests only measure, so they must not be the load.
      await sleep(25);
    }
  })();
  const statuses = await Promise.all(Array.from({ length: emails }, (_, index) => postLarge(large(index))));
  isOver = true;
  await meanwhile;
  expect(statuses).toEqual(Array(emails).fill(201));

  const isLarge = ({ envelope }: { envelope: { to: string[] } }) => envelope.to[0]!.startsWith('large-');
  await sink.waitFor((messages) => messages.filter(isLarge).length === emails, { timeoutMs: 200_000 });
  const { attachments } = await PostalMime.parse(sink.messages.find(isLarge)!.raw);
  const received = attachments.map((one) => [
    one.filename,
    createHash('sha256')
      .update(new Uint8Array(one.content as ArrayBuffer))
      .digest('hex'),
  ]);
  expect(received).toEqual([['Bericht für März.pdf', createHash('sha256').update(bytes).digest('hex')]]);
  await waitFor('no attachment is kept', async () => {
    const [row] = await query('SELECT COUNT(*) AS n FROM email_attachment_chunks');
    return row!.n === 0;
  });

  const sorted = computedMs.toSorted((one, two) => one - two);
  const peaks = { web: peakMb(web.pid), worker: peakMb(worker.pid) };
  console.log(
    `web ${peaks.web.toFixed(0)} MB (${before.web.toFixed(0)} MB before), worker ${peaks.worker.toFixed(0)} MB (${before.worker.toFixed(0)} MB before); ` +
      `${sorted.length} small requests meanwhile: p50 ${sorted[sorted.length >> 1]} ms of CPU, most ${sorted.at(-1)} ms`,
  );
  expect(sorted[sorted.length >> 1]! / cpuSlowdown()).toBeLessThan(100);
  expect(peaks.web).toBeLessThan(400);
  expect(peaks.worker).toBeLessThan(300);
  // If one of them held all four attachments, these would be 120 MB.
  expect(peaks.web - before.web).toBeLessThan(100);
  expect(peaks.worker - before.worker).toBeLessThan(110);
}, 480_000);

import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { attachmentOf, plainEmail } from '../content.ts';
import { serve } from '../serve.ts';
import { percentile } from '../statistics.ts';

/** Sends emails at a steady pace, however long the answers take. */
export interface Pace {
  port: number;
  key: string;
  ms: number;
  /** Between two small emails, in milliseconds. */
  everyMs: number;
  /** Between two emails with `largeBytes` of attachment. */
  largeEveryMs: number;
  largeBytes: number;
}

export interface Paced {
  count: number;
  ms: number;
  p50Ms: number;
  p99Ms: number;
  largeP50Ms: number;
  largeMaxMs: number;
  /** Answers other than 201, by status. */
  refused: Record<string, number>;
}

async function send({ port, key, ms, everyMs, largeEveryMs, largeBytes }: Pace): Promise<Paced> {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const content = attachmentOf(largeBytes).toString('base64');
  const attachments = [{ filename: 'photo.jpg', contentType: 'image/jpeg', content }];
  const refused: Record<string, number> = {};
  const startedAt = performance.now();

  async function one(index: number, changes: object, latencies: number[]): Promise<void> {
    const sentAt = performance.now();
    const answer = await request(`http://127.0.0.1:${port}/v2/email`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...plainEmail(index), ...changes }),
      dispatcher: agent,
    });
    await answer.body.dump();
    latencies.push(performance.now() - sentAt);
    if (answer.statusCode !== 201) refused[answer.statusCode] = (refused[answer.statusCode] ?? 0) + 1;
  }

  /** Sends by the clock, so that a late answer does not delay later emails. */
  async function series(every: number, changes: object): Promise<Float64Array> {
    const latencies: number[] = [];
    const sent: Promise<void>[] = [];
    for (let index = 0; index * every < ms; index += 1) {
      await delay(Math.max(0, startedAt + index * every - performance.now()));
      sent.push(one(index, changes, latencies));
    }
    await Promise.all(sent);
    return Float64Array.from(latencies).toSorted();
  }

  const [small, large] = await Promise.all([series(everyMs, {}), series(largeEveryMs, { attachments })]);
  const tookMs = performance.now() - startedAt;
  await agent.close();
  return {
    count: small.length + large.length,
    ms: tookMs,
    p50Ms: percentile(small, 0.5),
    p99Ms: percentile(small, 0.99),
    largeP50Ms: percentile(large, 0.5),
    largeMaxMs: large.at(-1)!,
    refused,
  };
}

serve({ send });

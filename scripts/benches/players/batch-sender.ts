import { Agent, request } from 'undici';
import { contactBatch } from '../content.ts';
import { serve } from '../serve.ts';
import { type Latency, latencyOf } from '../statistics.ts';

/** Sends batches of contacts, each sender on a connection of its own, one after another. */
export interface Sending {
  port: number;
  headers: Record<string, string>;
  senders: number;
  /** The first batch of each sender; each sender has contacts of its own. */
  first: number;
  count: number;
}

export interface Sent extends Latency {
  ms: number;
}

async function send({ port, headers, senders, first, count }: Sending): Promise<Sent> {
  const agent = new Agent({ connections: senders });
  const lanes = Array.from({ length: senders }, (_, sender) =>
    Array.from({ length: count }, (_, index) => JSON.stringify(contactBatch(sender, first + index))),
  );
  const latencies: number[] = [];
  const startedAt = performance.now();
  await Promise.all(
    lanes.map(async (bodies, sender) => {
      for (const [index, body] of bodies.entries()) {
        const sentAt = performance.now();
        const answer = await request(`http://127.0.0.1:${port}/v2/contacts/batch`, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body,
          dispatcher: agent,
        });
        const outcome = await answer.body.text();
        latencies.push(performance.now() - sentAt);
        if (answer.statusCode !== 200) throw new Error(`Batch ${first + index} of ${sender}: ${outcome}`);
      }
    }),
  );
  const ms = performance.now() - startedAt;
  await agent.close();
  return { ms, ...latencyOf(latencies) };
}

serve({ send });

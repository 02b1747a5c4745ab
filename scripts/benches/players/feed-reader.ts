import { Agent, request } from 'undici';
import { serve } from '../serve.ts';
import { latencyOf } from '../statistics.ts';

/**
 * Reads a feed page after page, each reader on a connection of its own. At the end of its pages a reader goes back to
 * where it began.
 */
export interface Reading {
  url: string;
  headers: Record<string, string>;
  /** One for each reader. */
  cursors: string[];
  /** The pages that a reader reads before it goes back to its cursor. */
  pages: number;
}

let agent: Agent;

async function page({ url, headers }: Reading, cursor: string): Promise<{ events: number; next: string }> {
  const answer = await request(`${url}&cursor=${cursor}`, { headers, dispatcher: agent });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(text);
  // Events are counted and not parsed: on a small machine the reader must not become the limit.
  const events = text.split('"occurredAt":').length - 1;
  const [, next = ''] = /"nextCursor":"([^"]+)"/.exec(text.slice(-1000)) ?? [];
  return { events, next };
}

async function read(reading: Reading & { ms: number }) {
  agent = new Agent({ connections: reading.cursors.length });
  const latencies: number[] = [];
  let events = 0;
  const startedAt = performance.now();
  await Promise.all(
    reading.cursors.map(async (start) => {
      let cursor = start;
      for (let count = 0; performance.now() - startedAt < reading.ms; count += 1) {
        if (count % reading.pages === 0) cursor = start;
        const sentAt = performance.now();
        const got = await page(reading, cursor);
        latencies.push(performance.now() - sentAt);
        events += got.events;
        cursor = got.next;
      }
    }),
  );
  const ms = performance.now() - startedAt;
  await agent.close();
  return { events, ms, ...latencyOf(latencies) };
}

serve({ read });

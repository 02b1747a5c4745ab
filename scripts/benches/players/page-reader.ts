import { Agent, request } from 'undici';
import { serve } from '../serve.ts';
import { percentile } from '../statistics.ts';

/** Reads pages: these addresses over and over, on `connections` connections. */
export interface Reading {
  urls: string[];
  headers: Record<string, string>;
  connections: number;
  ms: number;
  follows?: boolean;
}

/** Reads pages. `follows`: after each page it reads the next one, while there is one. */
async function read({ urls, headers, connections, ms, follows }: Reading) {
  const agent = new Agent({ connections });
  const latencies: number[] = [];
  const rows = urls.map(() => 0);
  const startedAt = performance.now();
  let next = 0;
  const one = async () => {
    let cursor: string | null = null;
    while (performance.now() - startedAt < ms) {
      const place = (next += 1) % urls.length;
      const sentAt = performance.now();
      const url: string = cursor === null ? urls[place]! : `${urls[place]}&cursor=${cursor}`;
      const answer = await request(url, { headers, dispatcher: agent });
      const text = await answer.body.text();
      latencies.push(performance.now() - sentAt);
      if (answer.statusCode !== 200) throw new Error(text);
      rows[place] = text.split('"createdAt":').length - 1;
      if (follows) cursor = (JSON.parse(text) as { nextCursor: string | null }).nextCursor;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  const tookMs = performance.now() - startedAt;
  await agent.close();
  const sorted = Float64Array.from(latencies).toSorted();
  const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => percentile(sorted, share));
  return { pages: latencies.length, ms: tookMs, rows, p50Ms, p95Ms, p99Ms };
}

serve({ read });

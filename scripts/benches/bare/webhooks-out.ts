import { createHmac, createSecretKey, hash } from 'node:crypto';
import type { Job } from 'bullmq';
import { Agent, request } from 'undici';
import { serve } from '../serve.ts';
import { openDatabase, workOn } from './connections.ts';
import { rowWriter } from './rows.ts';

/** A BullMQ job, an HMAC signature (RFC 9421), a POST by undici, batched insert of the result. */
export interface PostSettings {
  queue: string;
  url: string;
  secret: string;
  jobsInFlight: number;
}
export interface PostJob {
  id: string;
  body: string;
}

const insert =
  'INSERT INTO bare_deliveries (delivery_id, response_status, response_body, duration_ms, attempted_at)';
const covered = '("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id")';

function start({ queue, url, secret, jobsInFlight }: PostSettings): void {
  const { host, pathname } = new URL(url);
  const key = createSecretKey(Buffer.from(secret));
  const dispatcher = new Agent({ connections: jobsInFlight });
  const database = openDatabase();
  const write = rowWriter((rows: unknown[][]) => database.query(`${insert} VALUES ?`, [rows]));

  function signed(id: string, body: string): Record<string, string> {
    const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
    const created = Math.floor(Date.now() / 1000);
    const params = `${covered};created=${created};expires=${created + 300};keyid="1";alg="hmac-sha256"`;
    const base = `"@method": POST\n"@authority": ${host}\n"@path": ${pathname}\n"@query": ?\n"content-digest": ${digest}\n"content-type": application/json\n"webhook-id": ${id}\n"@signature-params": ${params}`;
    return {
      'content-digest': digest,
      'content-type': 'application/json',
      'webhook-id': id,
      'signature-input': `sig=${params}`,
      signature: `sig=:${createHmac('sha256', key).update(base).digest('base64')}:`,
    };
  }

  const post = async ({ data: { id, body } }: Job<PostJob>) => {
    const at = new Date();
    const startedAt = performance.now();
    const answer = await request(url, { method: 'POST', headers: signed(id, body), body, dispatcher });
    const text = await answer.body.text();
    await write([id, answer.statusCode, text, Math.round(performance.now() - startedAt), at]);
  };
  workOn(queue, jobsInFlight, post);
}

serve({ start });

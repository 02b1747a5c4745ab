import { Agent, request } from 'undici';
import type { World } from './types.ts';

export type Question = {
  method: string;
  path: string;
  key: string;
  idempotencyKey?: string | null;
  /** JSON text. */
  body?: string | null;
};

export type Reply = { status: number; location: string | null; isReplayed: boolean; text: string };

// A frozen process answers nothing; after this time the request is repeated at another process.
const answerWithinMs = 12_000;

const dispatcher = new Agent({
  connections: 64,
  connect: { timeout: 3_000 },
  headersTimeout: answerWithinMs,
  bodyTimeout: answerWithinMs,
});

let turn = 0;

/** Sends one request to the next web process in turn. Returns null where no answer came: its effect is unknown. */
export async function ask(world: Pick<World, 'webUrls'>, question: Question): Promise<Reply | null> {
  const urls = world.webUrls();
  if (urls.length === 0) return null;
  turn += 1;
  const { method, path, key, idempotencyKey, body } = question;
  try {
    const response = await request(`${urls[turn % urls.length]}${path}`, {
      method: method as 'GET',
      dispatcher,
      headers: {
        authorization: `Bearer ${key}`,
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body ?? null,
    });
    return {
      status: response.statusCode,
      location: response.headers['location']?.toString() ?? null,
      isReplayed: response.headers['idempotent-replayed'] === 'true',
      text: await response.body.text(),
    };
  } catch {
    return null;
  }
}

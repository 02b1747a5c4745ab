import { Agent } from 'undici';
import { atEnd } from '../../../support/runner/at-end.ts';

export type Question = {
  key: string;
  /** The header Idempotency-Key; none by default. */
  idempotencyKey?: string;
  method?: string;
  path?: string;
  /** An object is sent as JSON; text goes out as it is. */
  body?: unknown;
  headers?: Record<string, string>;
};

export type Reply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The body as text, byte for byte, because the tests compare the bytes. */
  text: string;
  json: () => any;
  isReplayed: boolean;
};

let agent: Agent | undefined;

/** Sends a request to the API at this address, and returns the answer with its bytes. */
export async function ask(
  url: string,
  { key, idempotencyKey, method = 'POST', path = '/v2/email', body, headers = {} }: Question,
): Promise<Reply> {
  if (!agent) {
    agent = new Agent({ connections: 100 });
    atEnd(async () => {
      await agent!.destroy();
      agent = undefined;
    });
  }
  const response = await agent.request({
    origin: url,
    path,
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.body.text();
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    json: () => JSON.parse(text),
    isReplayed: response.headers['idempotent-replayed'] === 'true',
  };
}

/** The code of a refusal. */
export function codeOf(reply: Reply): string {
  return reply.json().type.split('/').at(-1);
}

/** The parts of a replay that equal the first answer. */
export function essence({ status, headers, text }: Reply) {
  return { status, location: headers['location'], type: headers['content-type'], text };
}

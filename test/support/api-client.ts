import { Agent, request } from 'undici';
import { atEnd } from './at-end.ts';

type Call = {
  /** An object is sent as JSON; text and bytes go out as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** An API key or token. */
  key?: string;
};

export type Answer = {
  status: number;
  headers: Record<string, string>;
  /** Parsed where it is JSON, else the text. */
  body: any;
};

export type Client = ReturnType<typeof clientOf>;

/** A small client for an API at this address, in this process or another. */
export function clientOf(url: string) {
  const dispatcher = new Agent();
  atEnd(() => dispatcher.destroy());
  return {
    url,
    request: async (
      method: string,
      path: string,
      { body, headers = {}, key }: Call = {},
    ): Promise<Answer> => {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      const response = await request(url + path, {
        method: method as 'GET',
        dispatcher,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      });
      const text = await response.body.text();
      const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      const isJson = /\bjson\b/.test(String(response.headers['content-type'])) && text !== '';
      return {
        status: response.statusCode,
        headers: Object.fromEntries(received) as Record<string, string>,
        body: isJson ? JSON.parse(text) : text,
      };
    },
  };
}

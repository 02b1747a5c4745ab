import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { createApp } from '../../api/app.ts';
import { createHttpServer } from '../../api/http-server.ts';
import { atEnd } from './at-end.ts';
import { changeSettings } from './settings.ts';

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

/** The API in this process, on a free port, which is also the public address that it writes into links. */
export async function startApi(): Promise<Client & { close: () => Promise<void> }> {
  const server = createHttpServer(createApp()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  changeSettings({ PUBLIC_URL: url });
  let closing: Promise<unknown> | undefined;
  const close = async () => {
    if (!closing) {
      closing = once(server, 'close');
      server.close();
      server.closeAllConnections();
    }
    await closing;
  };
  atEnd(close);
  return { ...clientOf(url), close };
}

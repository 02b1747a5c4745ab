import { Agent, request } from 'undici';
import type { Endpoint } from '../../../api/endpoint.ts';
import { endpoints as allEndpoints } from '../../../api/routes/index.ts';
import { atEnd } from '../runner/at-end.ts';
import { contractOf } from './contract.ts';

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

/**
 * Returns a small client for the API at this address, in this process or another. The client checks every answer of an
 * operation against the API description of `endpoints`; an answer that does not fit fails the test.
 */
export function clientOf(
  url: string,
  { endpoints = allEndpoints }: { endpoints?: readonly Endpoint[] } = {},
) {
  const dispatcher = new Agent();
  const contract = contractOf(endpoints);
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
      const answer: Answer = {
        status: response.statusCode,
        headers: Object.fromEntries(received),
        body: isJson ? JSON.parse(text) : text,
      };
      const faults = contract.faultsOf({ method, path, ...answer });
      if (faults.length > 0)
        throw new Error(
          `${method} ${path} got ${answer.status}, and the API description does not allow the answer: ` +
            `${faults.slice(0, 10).join('; ')}\n${text.slice(0, 2_000)}`,
        );
      return answer;
    },
  };
}

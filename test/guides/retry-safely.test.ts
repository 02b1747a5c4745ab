// @slow: it runs each sample of the guides.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { type Answer, startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { inLanguages, run } from './run-program.ts';

// The code that customers copy from the guide "Retry safely", behind a proxy that loses requests and answers.
useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

type Passed = { key: string | undefined; status: number; replayed: boolean };
/** The fate of a request: its answer is passed on, its answer is lost, or the request never reaches the API. */
type Fate = 'answered' | 'answer lost' | 'busy';

/** Starts the proxy to the API; each request meets the next fate, and requests after the last fate are answered. */
async function startWay(...fates: Fate[]) {
  const passed: Passed[] = [];
  let count = 0;
  const forward = async (incoming: IncomingMessage) => {
    const { host: _, connection: __, ...headers } = incoming.headers;
    const {
      statusCode,
      headers: received,
      body,
    } = await request(api.url + incoming.url, {
      method: incoming.method as 'POST',
      headers,
      body: await buffer(incoming),
    });
    const key = incoming.headers['idempotency-key'] as string | undefined;
    passed.push({ key, status: statusCode, replayed: received['idempotent-replayed'] === 'true' });
    return { status: statusCode, headers: received, body: Buffer.from(await body.arrayBuffer()) };
  };
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const fate = fates[count] ?? 'answered';
    count += 1;
    if (fate === 'busy') {
      incoming.resume();
      response.writeHead(503, { 'retry-after': '1' }).end('busy');
      return;
    }
    const passedOn = await forward(incoming);
    if (fate === 'answer lost') return void incoming.socket.resetAndDestroy();
    response
      .writeHead(passedOn.status, { 'content-type': String(passedOn.headers['content-type']) })
      .end(passedOn.body);
  };
  const server = createServer((incoming, response) => void answer(incoming, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed, tries: () => count };
}

describe.each(inLanguages({ node: 'send-once.mjs', python: 'send_once.py' }))(
  'the retries in $language',
  (program) => {
    const send = async (fates: Fate[], changes: Record<string, unknown> = {}) => {
      const own = await workspace();
      const way = await startWay(...fates);
      const body = JSON.stringify(newEmail(own, changes));
      const settings = { API_URL: way.url, API_KEY: own.key };
      const { code, output } = await run(program, ['order-1234-confirmation', '/v2/email', body], settings);
      const listed = await api.request('GET', '/v2/email', { key: own.key });
      return { ...way, code, output, emails: listed.body.data as { id: string }[] };
    };

    test.concurrent('an answer that was lost is given again, and one email is sent', async () => {
      const { code, output, emails, passed } = await send(['answer lost', 'busy', 'answered']);
      expect(emails).toHaveLength(1);
      expect([code, output]).toEqual([0, expect.stringMatching(new RegExp(`^201 .*${emails[0]!.id}`))]);
      expect(passed).toEqual([
        { key: 'order-1234-confirmation', status: 201, replayed: false },
        { key: 'order-1234-confirmation', status: 201, replayed: true },
      ]);
    });

    test.concurrent('a request that is refused is not tried again', async () => {
      const { code, output, emails, tries } = await send([], { recipient: 'nobody' });
      expect([code, tries(), emails]).toEqual([1, 1, []]);
      expect(output).toMatch(/^400 .*validation_failed/);
    });

    /** Runs the program against a server that gives these answers, the last of them for ever. */
    const runAgainst = async (...given: ((() => Answer) | Answer)[]) => {
      const service = await startWebhookReceiver({
        respond: (_request, index) => {
          const answer = given[Math.min(index, given.length - 1)]!;
          return typeof answer === 'function' ? answer() : answer;
        },
      });
      const settings = { API_URL: service.url, API_KEY: 'msg_1' };
      const { code, output } = await run(program, ['order-1', '/v2/email', '{}'], settings);
      return { code, output, times: service.requests.map(({ at }) => at) };
    };
    const done: Answer = { status: 201, body: 'done' };

    test.concurrent('Retry-After may be a date, and the next try comes no sooner', async () => {
      let until = 0;
      const away = () => {
        // A date has whole seconds. The usual pause before the second try is 2 seconds at most.
        until = Math.ceil(Date.now() / 1000 + 4) * 1000;
        return { status: 503, headers: { 'retry-after': new Date(until).toUTCString() } };
      };
      const { code, output, times } = await runAgainst(away, done);
      expect([code, output, times.length]).toEqual([0, '201 done\n', 2]);
      // A timer of Node may fire a moment early.
      expect(times[1]).toBeGreaterThan(until - 50);
    });

    test.concurrent.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'soon', '-1', ''])(
      'after Retry-After: %j the request is tried again after the usual pause',
      async (retryAfter) => {
        const away = { status: 503, headers: { 'retry-after': retryAfter } };
        const { code, output, times } = await runAgainst(away, done);
        expect([code, output]).toEqual([0, '201 done\n']);
        expect(times[1]! - times[0]!).toBeGreaterThan(900);
      },
    );

    test.concurrent.each(['2600000', '301', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
      'Retry-After: %s is longer than a program should wait: the refusal is the answer',
      async (wait) => {
        const refusal = { status: 429, headers: { 'retry-after': wait }, body: 'limit_reached' };
        const { code, output, times } = await runAgainst(refusal, done);
        expect([code, output, times.length]).toEqual([1, '429 limit_reached\n', 1]);
      },
    );
  },
);

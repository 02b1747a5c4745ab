import { beforeAll, describe, expect, test } from 'vitest';
import { basicLogin } from '../../support/api/basic-login.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { statusReport } from '../../support/data/mail-reports.ts';
import { emailIn } from '../../support/data/reported-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

const token = 'a-token-of-enough-characters';
let own: Awaited<ReturnType<typeof workspace>>;
let url: string;
beforeAll(async () => {
  own = await workspace();
  changeSettings({ INBOUND_TOKEN: token, INBOUND_WAIT_SECONDS: 0.1 });
  ({ url } = await startApi());
});

type Request = { headers?: Record<string, string>; method?: string; body?: Buffer | string | ReadableStream };

async function post(
  recipients: string[],
  { headers = {}, method = 'POST', body = statusReport() }: Request = {},
) {
  const query = new URLSearchParams(
    recipients.map((recipient): [string, string] => ['recipient', recipient]),
  );
  const response = await fetch(`${url}/inbound/email?${query.toString()}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822', ...headers },
    body: method === 'GET' ? null : body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

describe('POST /inbound/email', () => {
  test('applies a report, with its envelope or without', async () => {
    const [one, two] = [await emailIn('sent', own), await emailIn('delivered', own)];
    expect(await post([one.returnPath])).toMatchObject({ status: 200, body: { outcome: 'changed' } });
    expect(await post([], { body: statusReport({ to: two.returnPath }) })).toMatchObject({
      status: 200,
      body: { outcome: 'changed' },
    });
    for (const email of [one, two])
      expect(await email.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
    expect(await post([one.returnPath])).toMatchObject({ status: 200, body: { outcome: 'unchanged' } });
  });

  test('takes the token as a password too', async () => {
    const email = await emailIn('sent', own);
    expect(await post([email.returnPath], { headers: basicLogin(token, 'anybody') })).toMatchObject({
      status: 200,
    });
  });

  test.each([
    ['none', ''],
    ['another', 'Bearer another-token-of-enough-length'],
    ['a longer one', `Bearer ${token}x`],
    ['the key of a workspace', 'key'],
    ['no base64', `Basic ${token}`],
  ])('with %s for a token it is refused, and nothing changes', async (_which, authorization) => {
    const email = await emailIn('sent', own);
    const headers = { authorization: authorization === 'key' ? `Bearer ${own.key}` : authorization };
    const answer = await post([email.returnPath], { headers });
    expect(answer).toMatchObject({
      status: 401,
      body: { type: expect.stringMatching(/\/problems\/unauthenticated$/) },
    });
    expect(await email.state()).toEqual(['sent', null]);
  });

  test('another kind of body is 415, another method 405, one too large 413', async () => {
    expect((await post([], { headers: { 'content-type': 'application/json' }, body: '{}' })).status).toBe(
      415,
    );
    expect((await post([], { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
    const get = await post([], { method: 'GET' });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const piece = new Uint8Array(1024 * 1024);
    let left = 65;
    const endless = new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(piece);
        else controller.close();
      },
    });
    expect((await post([], { body: endless })).status).toBe(413);
  });

  // Shows A57
  test('a message that is more than any report is refused with the limit, and html is not looked at', async () => {
    const email = await emailIn('sent', own);
    const deep = statusReport().toString().replace('--==report==--', '--==report==\r\n\r\nx\r\n'.repeat(200));
    expect(await post([email.returnPath], { body: deep })).toMatchObject({
      status: 400,
      body: {
        type: expect.stringMatching(/\/problems\/validation_failed$/),
        detail: 'The message has more than 100 parts.',
        errors: { body: ['has more than 100 parts'] },
      },
    });
    const html = `Content-Type: text/html\r\n\r\n<a ${'href='.repeat(50_000)}`;
    expect(await post([email.returnPath], { body: html })).toMatchObject({ body: { outcome: 'no_report' } });
    expect(await email.state()).toEqual(['sent', null]);
  });

  test('a report about an email that is still being sent is 503 and to come again', async () => {
    const email = await emailIn('queued', own);
    const answer = await post([email.returnPath]);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await email.state()).toEqual(['queued', null]);
  });
});

test('without INBOUND_TOKEN the door does not exist', async () => {
  changeSettings({ INBOUND_TOKEN: undefined });
  const { url: other } = await startApi();
  const answer = await fetch(`${other}/inbound/email`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(404);
});

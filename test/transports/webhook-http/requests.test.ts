import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { verifySignature } from 'http-message-sig';
import { httpbis } from 'http-message-signatures';
import { expect, test } from 'vitest';
import { product } from '../../../shared/config/config.ts';
import { verifyContentDigest } from '../../../shared/formats/signatures/content-digest.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { type ReceivedRequest, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { attemptTo, secrets, startAgent } from './attempt-to.ts';

const covered = ['@method', '@authority', '@path', '@query', 'content-digest', 'content-type', 'webhook-id'];

test('the request is a POST of the very bytes, with the headers that were agreed', async () => {
  const receiver = await startWebhookReceiver();
  const body = Buffer.from('{"id":"event_1","text":"größe 😀"}');
  const agent = startAgent();
  await agent.post(attemptTo(`${receiver.url}/hooks/a?b=c#part`, { body }));
  await agent.post(attemptTo(`${receiver.url}/hooks/a?b=c`, { body }));
  const [first, second] = receiver.requests;
  expect(first).toMatchObject({ method: 'POST', url: '/hooks/a?b=c' });
  expect(first?.body.equals(body)).toBe(true);
  expect(second?.body.equals(body)).toBe(true);
  expect(first?.headers).toMatchObject({
    host: `127.0.0.1:${receiver.port}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': `${product.name}/${product.version}`,
    'webhook-id': 'delivery_01h455vb4pex5vsknk084sn02q',
  });
  expect(first?.headers).not.toHaveProperty('transfer-encoding');
});

test.each(['/', '/hooks/a?b=c', '?', '/?', '/a b/é?q=%20ß+c', "/x/../y;p=1?a='|{}", '/%2e%2e/%C3%A9?b?c'])(
  'what is received can be verified by two libraries, label by label: %s',
  async (path) => {
    const receiver = await startWebhookReceiver();
    await startAgent().post(attemptTo(receiver.url + path));
    const [request] = receiver.requests;
    for (const label of ['sig', 'sig-prev'] as const) {
      expect(await isVerifiedByProductLibrary(request!, label, secrets[label])).toBe(true);
      expect(await isVerifiedIndependently(request!, label, secrets[label])).toBe(true);
      const wrong = secrets[label === 'sig' ? 'sig-prev' : 'sig'];
      expect(await isVerifiedByProductLibrary(request!, label, wrong)).toBe(false);
      expect(await isVerifiedIndependently(request!, label, wrong)).toBe(false);
    }
    expect(verifyContentDigest(request!.headers['content-digest'] ?? '', request!.body)).toBe(true);
  },
);

test('an answer that follows on informational ones counts', async () => {
  const url = await startRawServer(
    'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  );
  expect(await startAgent().post(attemptTo(url))).toMatchObject({
    responseStatus: 200,
    responseBody: 'ok',
    error: null,
  });
});

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
  [
    'an upgrade that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  ],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x-filler: 12345678901234567890\r\n'.repeat(2000)}`],
  ['a header with a stray return', 'HTTP/1.1 200 OK\r\nx: a\rb\r\n\r\n'],
])('an answer that cannot be read is a failed connection: %s', async (_name, answer) => {
  const url = await startRawServer(answer);
  expect(await startAgent().post(attemptTo(url))).toMatchObject({
    responseStatus: null,
    error: 'connection',
  });
});

/** Starts a server that gives the same answer to every request. */
async function startRawServer(answer: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(answer));
  });
  atEnd(() => server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const hmac = (secret: string, data: Uint8Array) => createHmac('sha256', secret).update(data).digest();

async function isVerifiedByProductLibrary(request: ReceivedRequest, label: string, secret: string) {
  const fields = [];
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    fields.push({ name: request.rawHeaders[at] ?? '', value: request.rawHeaders[at + 1] ?? '' });
  try {
    await verifySignature(
      {
        kind: 'request',
        method: request.method,
        targetUri: `http://${request.headers.host}${request.url}`,
        fields,
      },
      {
        label,
        policy: {
          algorithms: ['hmac-sha256'],
          requiredComponents: covered,
          requiredParameters: ['created', 'expires', 'keyid', 'alg'],
          maxAge: 300,
          clockSkew: 60,
        },
        resolveVerifier: () => ({
          algorithm: 'hmac-sha256',
          verify: (data, signature) => hmac(secret, data).equals(signature),
        }),
      },
    );
    return true;
  } catch {
    return false;
  }
}

/** Verifies one label with another library, which gets this label only, as it tries all labels with a known key. */
async function isVerifiedIndependently(request: ReceivedRequest, label: string, secret: string) {
  const only = (field = '') => field.split(', ').find((member) => member.startsWith(`${label}=`)) ?? '';
  const { headers } = request;
  const verified = await httpbis.verifyMessage(
    {
      keyLookup: async (parameters) => ({
        id: parameters.keyid ?? '',
        algs: ['hmac-sha256'],
        verify: async (data, signature) => hmac(secret, data).equals(signature),
      }),
      requiredFields: covered,
      requiredParams: ['created', 'expires', 'keyid', 'alg'],
      tolerance: 60,
    },
    {
      method: request.method,
      url: `http://${headers.host}${request.url}`,
      headers: {
        ...headers,
        'signature-input': only(headers['signature-input']),
        signature: only(headers.signature),
      },
    },
  );
  return verified === true;
}

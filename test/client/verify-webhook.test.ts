import { verifyWebhook, WebhookRefused } from 'messaging-service/client';
import { expect, test } from 'vitest';
import {
  signWebhookRequest,
  webhookKey,
} from '../../shared/formats/signatures/http-signature/sign-webhook.ts';

const url = 'https://hooks.acme.example/in?from=a%20test';
const [secret, former] = ['whsec_new', 'whsec_old'];
const event = { id: 'event_1', type: 'email.sent', data: { id: 'email_1' } };
const createdAt = new Date('2026-11-20T10:00:00Z');
const now = new Date('2026-11-20T10:04:00Z');

/** A delivery as the platform signs it. */
function delivery(secrets = [secret], at = url) {
  const body = JSON.stringify(event);
  const labels = ['sig', 'sig-prev'] as const;
  const headers = signWebhookRequest({
    url: new URL(at),
    body,
    contentType: 'application/json',
    webhookId: 'delivery_1',
    createdAt,
    signatures: secrets.map((one, index) => ({
      label: labels[index]!,
      keyid: String(index + 1),
      key: webhookKey(one),
    })),
  });
  return { url, headers: { ...headers } as Record<string, string>, body, secrets: secret, now };
}

test('what the platform has signed is believed, however its headers are given', () => {
  const good = { id: 'delivery_1', event };
  const given = delivery();
  expect(verifyWebhook(given)).toEqual(good);
  expect(verifyWebhook({ ...given, headers: new Headers(given.headers) })).toEqual(good);
  const inCapitals = Object.entries(given.headers).map(([name, value]) => [name.toUpperCase(), [value]]);
  expect(verifyWebhook({ ...given, headers: Object.fromEntries(inCapitals) })).toEqual(good);
  expect(verifyWebhook({ ...given, url: new URL(url), body: Buffer.from(given.body) })).toEqual(good);
  const plain = { ...delivery([secret], 'https://hooks.acme.example/'), url: 'https://hooks.acme.example' };
  expect(verifyWebhook(plain)).toEqual(good);
});

test('during a rotation either secret is enough', () => {
  const given = delivery([secret, former]);
  for (const secrets of [secret, former, [former, 'whsec_other'], ['whsec_other', secret]])
    expect(verifyWebhook({ ...given, secrets }).id).toBe('delivery_1');
});

const altered: [what: string, changes: (given: ReturnType<typeof delivery>) => object][] = [
  ['another body', ({ body }) => ({ body: `${body} ` })],
  ['another address', () => ({ url: 'https://hooks.acme.example/in?from=another' })],
  ['another host', () => ({ url: url.replace('acme', 'evil') })],
  ['another method', () => ({ method: 'PUT' })],
  ['another secret', () => ({ secrets: ['whsec_other', ''] })],
  ['no secret', () => ({ secrets: [] })],
  ['another id', ({ headers }) => ({ headers: { ...headers, 'webhook-id': 'delivery_2' } })],
  ['no headers', () => ({ headers: {} })],
  ['no signature', ({ headers }) => ({ headers: { ...headers, signature: '' } })],
  [
    'half a signature',
    ({ headers }) => ({ headers: { ...headers, signature: headers['signature']!.slice(0, 20) } }),
  ],
  [
    'a later end',
    ({ headers }) => ({
      headers: {
        ...headers,
        'signature-input': headers['signature-input']!.replace(/expires=\d+/, 'expires=99999999999'),
      },
    }),
  ],
  [
    'fewer parts that are signed',
    ({ headers }) => ({
      headers: { ...headers, 'signature-input': headers['signature-input']!.replace('"@path" ', '') },
    }),
  ],
];

test.each(altered)('%s is refused', (_what, changes) => {
  const given = delivery();
  expect(() => verifyWebhook({ ...given, ...changes(given) })).toThrow(WebhookRefused);
});

test('a signature holds for five minutes', () => {
  const at = (text: string) => () => verifyWebhook({ ...delivery(), now: new Date(text) });
  expect(at('2026-11-20T10:04:59Z')).not.toThrow();
  expect(at('2026-11-20T10:05:00Z')).toThrow('The signature has expired');
});

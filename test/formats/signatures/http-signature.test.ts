import { createHmac, createSecretKey } from 'node:crypto';
import * as fc from 'fast-check';
import { createSignatureSync, type RequestDescriptor } from 'http-message-sig';
import { httpbis } from 'http-message-signatures';
import { expect, test } from 'vitest';
import { contentDigest } from '../../../shared/formats/signatures/content-digest.ts';
import * as signatures from '../../../shared/formats/signatures/http-signature.ts';

const secret = 'whsec_dGhlIGN1cnJlbnQgc2VjcmV0IG9mIGEgd2ViaG9vay4u';
const oldSecret = 'whsec_dGhlIHNlY3JldCB0aGF0IHdhcyBiZWZvcmUgdGhlIG90aGVy';
const both = [
  { label: 'sig' as const, keyid: '2', key: signatures.webhookKey(secret) },
  { label: 'sig-prev' as const, keyid: '1', key: signatures.webhookKey(oldSecret) },
];
const createdAt = new Date('2026-11-20T10:00:00.999Z');
const delivery = {
  url: new URL('https://example.com/hooks/a?b=c'),
  body: '{"id":"event_1"}',
  contentType: 'application/json',
  webhookId: 'delivery_01h455vb4pex5vsknk084sn02q',
  createdAt,
  signatures: both,
};

test('the HMAC example of RFC 9421 B.2.5 comes out, byte for byte', () => {
  const key = createSecretKey(
    'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
    'base64',
  );
  const components: signatures.Component[] = [
    ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
    ['@authority', 'example.com'],
    ['content-type', 'application/json'],
  ];
  const params = signatures.signatureParams(
    components.map(([name]) => name),
    { created: 1618884473, keyid: 'test-shared-secret' },
  );
  const base = signatures.signatureBase(components, params);
  expect(params).toBe('("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"');
  expect(base).toBe(
    [
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@authority": example.com',
      '"content-type": application/json',
      '"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    ].join('\n'),
  );
  expect(signatures.hmacSha256(base, key)).toBe(':pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:');
});

test('a delivery carries two labelled signatures over the agreed components, each made with its own secret', () => {
  const headers = signatures.signWebhookRequest(delivery);
  const covered =
    '("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id")' +
    ';created=1795168800;expires=1795169100';
  expect(headers['signature-input']).toBe(
    `sig=${covered};keyid="2";alg="hmac-sha256", sig-prev=${covered};keyid="1";alg="hmac-sha256"`,
  );
  const base = (keyid: string) =>
    [
      '"@method": POST',
      '"@authority": example.com',
      '"@path": /hooks/a',
      '"@query": ?b=c',
      `"content-digest": ${contentDigest(delivery.body)}`,
      '"content-type": application/json',
      '"webhook-id": delivery_01h455vb4pex5vsknk084sn02q',
      `"@signature-params": ${covered};keyid="${keyid}";alg="hmac-sha256"`,
    ].join('\n');
  // The HMAC key is the text of the secret as the customer has it, with its prefix.
  const mac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64');
  expect(headers.signature).toBe(`sig=:${mac(secret, base('2'))}:, sig-prev=:${mac(oldSecret, base('1'))}:`);
  expect(headers['content-digest']).toBe(contentDigest(delivery.body));
});

test('with one secret there is one signature', () => {
  const headers = signatures.signWebhookRequest({ ...delivery, signatures: both.slice(0, 1) });
  expect(headers['signature-input']).toMatch(
    /^sig=\([^()]*\);created=\d+;expires=\d+;keyid="2";alg="hmac-sha256"$/,
  );
  expect(headers.signature).toMatch(/^sig=:[A-Za-z0-9+/]{43}=:$/);
});

const urls = [
  'https://example.com/hooks/a?b=c',
  'https://example.com',
  'https://example.com/?',
  'https://EXAMPLE.com:443/A/../b/./c',
  'http://example.com:80/a',
  'http://example.com:8080/a;p=1/%2e%2E/x',
  'http://[2606:4700::1]:8443/a',
  'https://bücher.example/straße?größe=%20ß&a=b+c',
  "https://example.com/a b?q='x'|{y}#part",
  'https://example.com/%C3%A9?%C3%A9=1',
  'https://example.com/a?b?c&&=',
];

test.each(urls)('the product library makes the same bytes for %s', (url) => {
  const headers = signatures.signWebhookRequest({ ...delivery, url: new URL(url) });
  expect(fields(headers)).toEqual(byLibrary(url, delivery.body, headers));
});

test('the product library makes the same bytes for any path, query and body', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string(), (url, body) => {
      const headers = signatures.signWebhookRequest({ ...delivery, url: new URL(url), body });
      expect(fields(headers)).toEqual(byLibrary(url, body, headers));
    }),
  );
});

test.each(urls)('an independent verifier accepts both labels for %s', async (url) => {
  const headers = signatures.signWebhookRequest({ ...delivery, url: new URL(url) });
  for (const { label, keyid } of both) expect(await isVerified(url, headers, label, keyid)).toBe(true);
});

test('an independent verifier refuses what was changed after signing, and a wrong secret', async () => {
  const headers = signatures.signWebhookRequest(delivery);
  const url = delivery.url.href;
  expect(await isVerified(url, headers, 'sig', '2')).toBe(true);
  expect(await isVerified(url, headers, 'sig', '2', oldSecret)).toBe(false);
  expect(await isVerified('https://example.com/hooks/b?b=c', headers, 'sig', '2')).toBe(false);
  expect(await isVerified('https://example.com/hooks/a?b=d', headers, 'sig', '2')).toBe(false);
  expect(await isVerified('https://example.org/hooks/a?b=c', headers, 'sig', '2')).toBe(false);
  for (const name of ['content-digest', 'content-type', 'webhook-id'] as const)
    expect(await isVerified(url, { ...headers, [name]: 'changed' }, 'sig', '2')).toBe(false);
});

test('a key id that would break out of its quotes is refused', () => {
  const [first] = both;
  for (const keyid of ['1";alg="none', '1\\', '1\n2', 'é'])
    expect(() => signatures.signWebhookRequest({ ...delivery, signatures: [{ ...first!, keyid }] })).toThrow(
      TypeError,
    );
});

/** Removes the fragment of a URL, which is never sent (RFC 9110 §4.2.5). */
function asSent(url: string): string {
  const sent = new URL(url);
  sent.hash = '';
  return sent.href;
}

function fields(headers: signatures.WebhookHeaders) {
  return { signatureInput: headers['signature-input'], signature: headers.signature };
}

/** Signs both labels with http-message-sig, from the request as it is sent. */
function byLibrary(url: string, body: string, headers: signatures.WebhookHeaders) {
  const message: RequestDescriptor = {
    kind: 'request',
    method: 'POST',
    targetUri: asSent(url),
    fields: [
      { name: 'content-digest', value: contentDigest(body) },
      { name: 'content-type', value: headers['content-type'] },
      { name: 'webhook-id', value: headers['webhook-id'] },
    ],
  };
  const created = Math.floor(createdAt.getTime() / 1000);
  const signed = both.map(({ label, keyid, key }) =>
    createSignatureSync(message, {
      label,
      components: [
        '@method',
        '@authority',
        '@path',
        '@query',
        'content-digest',
        'content-type',
        'webhook-id',
      ],
      parameters: { created, expires: created + 300, keyid, alg: 'hmac-sha256' },
      signer: {
        algorithm: 'hmac-sha256',
        sign: (data) => createHmac('sha256', key).update(data).digest(),
      },
    }),
  );
  return {
    signatureInput: signed.map((one) => one.signatureInput).join(', '),
    signature: signed.map((one) => one.signature).join(', '),
  };
}

/** Verifies a request as a receiver that accepts only the label which it knows. */
async function isVerified(
  url: string,
  headers: signatures.WebhookHeaders,
  label: 'sig' | 'sig-prev',
  keyid: string,
  withSecret = label === 'sig' ? secret : oldSecret,
): Promise<boolean> {
  const only = (field: string) => field.split(', ').find((member) => member.startsWith(`${label}=`)) ?? '';
  const message = {
    method: 'POST',
    url: asSent(url),
    headers: {
      ...headers,
      'signature-input': only(headers['signature-input']),
      signature: only(headers.signature),
    },
  };
  const verified = await httpbis.verifyMessage(
    {
      keyLookup: async (parameters) => ({
        id: parameters.keyid ?? '',
        algs: ['hmac-sha256'],
        verify: async (data, signature) =>
          parameters.keyid === keyid &&
          createHmac('sha256', withSecret).update(data).digest().equals(signature),
      }),
      requiredFields: ['@method', '@authority', '@path', '@query', 'content-digest', 'webhook-id'],
      requiredParams: ['created', 'expires', 'keyid', 'alg'],
      notAfter: createdAt,
      tolerance: 10 * 365 * 86_400,
    },
    message,
  );
  return verified === true;
}

// Sends one signed request. Node 18 or later, no packages:
//
//   node signed-request.mjs POST /v2/email '{"sender": "…", "recipient": "…", "subject": "…", "content": {"text": "…"}}'
//
//   API_URL         the address of the API, as in https://messaging.example
//   API_KEY         the key, msg_…
//   API_KEY_ID      its id, key_…
//   SIGNING_SECRET  its signing secret, sig_…
import { createHash, createHmac, randomUUID } from 'node:crypto';

const { API_URL, API_KEY, API_KEY_ID, SIGNING_SECRET } = process.env;

/** The headers that sign a request, with those that it must carry because they are signed. */
function signedHeaders({ method, url, body, idempotencyKey }) {
  const signed = {};
  if (body !== undefined) {
    signed['content-digest'] = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
    signed['content-type'] = 'application/json';
  }
  if (idempotencyKey !== undefined) signed['idempotency-key'] = idempotencyKey;

  const components = {
    '@method': method,
    '@authority': url.host,
    '@path': url.pathname,
    '@query': url.search || '?',
    ...signed,
  };
  const names = Object.keys(components).map((name) => `"${name}"`);
  // created and keyid are needed. A nonce makes the request good for one time only.
  const created = Math.floor(Date.now() / 1000);
  const params = `(${names.join(' ')});created=${created};keyid="${API_KEY_ID}";nonce="${randomUUID()}"`;
  const lines = Object.entries(components).map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${params}`].join('\n');
  // For a key with ecdsa_p256_sha256: sign('sha256', base, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const signature = createHmac('sha256', SIGNING_SECRET).update(base).digest('base64');
  return { ...signed, 'signature-input': `sig=${params}`, signature: `sig=:${signature}:` };
}

const [method, path, body] = process.argv.slice(2);
const url = new URL(API_URL.replace(/\/+$/, '') + path);
// A key in strict mode wants one with every POST and PATCH: see the guide "Retry safely".
const idempotencyKey = method === 'POST' || method === 'PATCH' ? randomUUID() : undefined;
const response = await fetch(url, {
  method,
  body,
  headers: { authorization: `Bearer ${API_KEY}`, ...signedHeaders({ method, url, body, idempotencyKey }) },
});
console.log(response.status, await response.text());
process.exitCode = response.ok ? 0 : 1;

// Receives webhooks and checks that they are genuine. Node 18 or later, no packages: node receiver.mjs
//
//   WEBHOOK_URL      the url of the webhook, as the API shows it
//   WEBHOOK_SECRETS  its signing secret; during a rotation the new one and the old one, separated by a comma
//   PORT             where to listen; 8080 if not set
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { host } = new URL(process.env.WEBHOOK_URL);
const secrets = process.env.WEBHOOK_SECRETS.split(',');

/** Called once for each event. Store it and return: an answer after more than 10 seconds counts as a failure. */
async function handle(event) {
  console.log(`Event ${event.id}: ${event.type}`);
}

const covered = '("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id")';

/** Why a request is not a genuine delivery; null when it is one. */
function refusalOf({ method, url, headers }, body) {
  const digest = createHash('sha256').update(body).digest('base64');
  if (headers['content-digest'] !== `sha-256=:${digest}:`) return 'The body is not the one that was signed.';
  const queryAt = url.indexOf('?');
  const components = [
    `"@method": ${method}`,
    `"@authority": ${host}`,
    `"@path": ${queryAt < 0 ? url : url.slice(0, queryAt)}`,
    `"@query": ${queryAt < 0 ? '?' : url.slice(queryAt)}`,
    `"content-digest": ${headers['content-digest']}`,
    `"content-type": ${headers['content-type']}`,
    `"webhook-id": ${headers['webhook-id']}`,
  ];
  // During a rotation there are two, labelled sig and sig-prev. One that is good is enough.
  const signatures = membersOf(headers.signature);
  for (const [label, params] of membersOf(headers['signature-input'])) {
    if (!params.startsWith(`${covered};`)) continue;
    const expires = Number(/;expires=(\d+)/.exec(params)?.[1]);
    if (!(expires > Date.now() / 1000)) return 'The signature has expired.';
    const base = [...components, `"@signature-params": ${params}`].join('\n');
    const signature = Buffer.from(signatures.get(label) ?? '');
    if (secrets.some((secret) => isMadeWith(secret, base, signature))) return null;
  }
  return 'No signature was made with a secret of ours.';
}

/** The labels of a signature header and their values: `sig=…, sig-prev=…`. No value has a comma. */
function membersOf(header = '') {
  return new Map([...header.matchAll(/([\w-]+)=([^,]+)/g)].map(([, label, value]) => [label, value]));
}

function isMadeWith(secret, base, signature) {
  const expected = Buffer.from(`:${createHmac('sha256', secret).update(base).digest('base64')}:`);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

// A delivery can come more than once, always under the same Webhook-Id. Keep these ids where they outlive a restart,
// such as in a database column that is unique. The guide says under Duplicates how soon an id may be forgotten.
const seen = new Set();
const maxBodyBytes = 1024 * 1024;

async function answer(request) {
  const length = Number(request.headers['content-length']);
  if (!(length <= maxBodyBytes)) return { status: 413, text: 'The body is too large.' };
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const refusal = refusalOf(request, body);
  if (refusal) return { status: 401, text: refusal };
  const id = request.headers['webhook-id'];
  if (seen.has(id)) return { status: 200, text: 'We have it already.' };
  await handle(JSON.parse(body));
  seen.add(id);
  return { status: 200, text: 'Thank you.' };
}

const server = createServer(async (request, response) => {
  const { status, text } = await answer(request).catch((error) => {
    console.error(error);
    // Anything but 2xx is tried again: after 5 minutes, then 15 minutes, 1, 4, 8 and 12 hours.
    return { status: 500, text: 'Try again later.' };
  });
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
});
server.listen(process.env.PORT ?? 8080, () => console.log(`Listening on port ${server.address().port}`));

// Stands between the platform and Twilio. Node 20 or later, no packages.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { GATEWAY_NAME, GATEWAY_SECRET, PLATFORM_URL, OWN_URL, HOST, PORT } = process.env;
const { TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_URL } = process.env;
const account = `${TWILIO_URL ?? 'https://api.twilio.com'}/2010-04-01/Accounts/${TWILIO_ACCOUNT_SID}`;
const authorization = `Basic ${btoa(`${TWILIO_ACCOUNT_SID}:${TWILIO_AUTH_TOKEN}`)}`;
const names = '("@method" "@authority" "@path" "@query" "content-digest" "content-type")';
const digestOf = (body) => `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
const isSame = (one, other) => one.length === other.length && timingSafeEqual(one, other);

/** As RFC 9421 has it: for what the platform posts, and for what it is told. */
function signatureOf(address, body, params) {
  const { host, pathname, search } = new URL(address);
  const values = ['POST', host, pathname, search || '?', digestOf(body), 'application/json'];
  const lines = [...names.matchAll(/"[^"]+"/g)].map(([name], index) => `${name}: ${values[index]}\n`);
  const base = `${lines.join('')}"@signature-params": ${params}`;
  return createHmac('sha256', GATEWAY_SECRET).update(base).digest();
}

function isFromPlatform({ url, headers }, body) {
  const params = headers['signature-input']?.replace(/^sig=/, '') ?? '';
  const given = Buffer.from(headers.signature?.replace(/^sig=:(.*):$/, '$1') ?? '', 'base64');
  const age = Date.now() / 1000 - Number(/;created=(\d+)/.exec(params)?.[1]);
  const own = signatureOf(OWN_URL + url, body, params);
  return params.startsWith(names) && Math.abs(age) < 300 && isSame(given, own);
}

async function tellPlatform(door, post) {
  const [url, body] = [`${PLATFORM_URL}/gateways/${GATEWAY_NAME}/${door}`, JSON.stringify(post)];
  const params = `${names};created=${Math.floor(Date.now() / 1000)};keyid="${GATEWAY_NAME}"`;
  const signature = `sig=:${signatureOf(url, body, params).toString('base64')}:`;
  const signed = { 'content-digest': digestOf(body), 'signature-input': `sig=${params}`, signature };
  const headers = { 'content-type': 'application/json', ...signed };
  const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(4_000) });
  if (answer.status !== 204) throw new Error(`The platform answered ${answer.status}`);
  return [204];
}

async function send({ sender, recipient, content }) {
  const callback = `${OWN_URL}/twilio/status#rc=5&rp=all`; // Twilio tries again where nobody answers.
  const body = new URLSearchParams({ To: recipient, From: sender, Body: content, StatusCallback: callback });
  const options = { method: 'POST', headers: { authorization }, body, signal: AbortSignal.timeout(5_000) };
  const answer = await fetch(`${account}/Messages.json`, options);
  const { sid, code, message: title } = await answer.json();
  if (answer.ok) return [200, { reference: sid }];
  if ([401, 429].includes(answer.status)) return [503, { title }]; // No fault of the text: it comes later.
  return answer.status < 500 ? [422, { code: String(code), title }] : [502, { title }];
}

// A text that the platform posts again gets the answer of the first time, and is not sent twice.
const sent = new Map();
async function sendOnce(text) {
  if (!sent.has(text.id)) sent.set(text.id, send(text));
  const answer = await sent.get(text.id).catch((error) => [502, { title: error.message }]);
  setTimeout(() => sent.delete(text.id), answer[0] === 200 ? 3_600_000 : 0).unref();
  return answer;
}

function answerTo({ url, headers }, body) {
  if (url === '/send') return isFromPlatform({ url, headers }, body) ? sendOnce(JSON.parse(body)) : [401];
  const form = new URLSearchParams(body.toString());
  form.sort();
  const signed = createHmac('sha1', TWILIO_AUTH_TOKEN).update(OWN_URL + url + [...form].flat().join(''));
  if (!isSame(signed.digest(), Buffer.from(headers['x-twilio-signature'] ?? '', 'base64'))) return [403];
  const { MessageSid: id, MessageStatus, ErrorCode, From, To, Body } = Object.fromEntries(form);
  const text = { id, sender: From, recipient: To, content: Body };
  if (url === '/twilio/inbound') return tellPlatform('messages', text);
  const status = { delivered: 'delivered', undelivered: 'failed', failed: 'failed' }[MessageStatus];
  const receipt = { id: `${id} ${status}`, reference: id, status, errorCode: ErrorCode || null };
  return status ? tellPlatform('receipts', receipt) : [204];
}

const server = createServer(async (request, response) => {
  const answer = request.toArray().then((pieces) => answerTo(request, Buffer.concat(pieces)));
  const [status, said] = await answer.catch((error) => [502, { title: error.message }]);
  response.writeHead(status, { 'content-type': 'application/json' }).end(said && JSON.stringify(said));
}).listen(PORT ?? 8080, HOST ?? '127.0.0.1', () => console.log(`Listening on port ${server.address().port}`));

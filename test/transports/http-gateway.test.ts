import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../shared/config/sms-gateways.ts';
import { closeGateways, gatewayFor, submit } from '../../shared/transports/sms.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { isSignedBy } from '../support/servers/verify-delivery.ts';
import {
  type Answer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';

const secret = 'hunter2-hunter2-hunter2';
let carrier: WebhookReceiver;
beforeEach(async () => {
  carrier = await startWebhookReceiver({ respond: taking('r1') });
});
afterEach(async () => {
  await closeGateways();
  await carrier.close();
});

const taking = (reference: unknown, status = 200): Answer => ({
  status,
  body: JSON.stringify({ reference }),
});
const problem = (status: number, document: object, headers = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify(document),
});

function useCarrier(changes: object = {}, seconds = 10, ...others: object[]): void {
  const own = { name: 'carrier', type: 'http', url: `${carrier.url}/send?route=gold`, secret, ...changes };
  changeSettings({
    SMS_TIMEOUT_SECONDS: seconds,
    SMS_GATEWAYS: gatewayList.parse(JSON.stringify([own, ...others])),
  });
}

let made = 0;
const newText = (changes = {}) => {
  made += 1;
  return {
    id: `sms_${made}`,
    workspaceId: 'w',
    sender: 'Acme',
    recipient: '+447407000001',
    content: 'Grüße',
    parts: 1,
    ...changes,
  };
};

test('a text is posted as JSON, signed in the gateway’s name, and the reference of the answer is kept', async () => {
  useCarrier();
  const text = newText();
  expect(await submit(text)).toEqual({ kind: 'accepted', reference: 'r1' });
  const [request] = carrier.requests;
  expect(request).toMatchObject({
    method: 'POST',
    url: '/send?route=gold',
    headers: { 'content-type': 'application/json' },
  });
  const { id, sender, recipient, content } = text;
  const posted = { id, sender, recipient, content, encoding: 'gsm7', parts: 1 };
  expect(JSON.parse(request!.body.toString())).toEqual(posted);
  expect(request!.headers['signature-input']).toContain('keyid="carrier";alg="hmac-sha256"');
  const covered = ['@method', '@authority', '@path', '@query', 'content-digest', 'content-type'];
  const params = ['created', 'keyid', 'alg'];
  expect(await isSignedBy(request!, 'sig', secret, { covered, params })).toBe(true);
  expect(await isSignedBy(request!, 'sig', `${secret}x`, { covered, params })).toBe(false);
});

test('of a text of several parts each has a name of its own', async () => {
  useCarrier();
  expect(await submit(newText({ content: '😀'.repeat(70), parts: 3 }))).toEqual({
    kind: 'accepted',
    reference: 'r1',
    parts: [
      { part: 1, reference: 'r1 1' },
      { part: 2, reference: 'r1 2' },
      { part: 3, reference: 'r1 3' },
    ],
  });
  expect(JSON.parse(carrier.requests[0]!.body.toString())).toMatchObject({ encoding: 'ucs2', parts: 3 });
});

const page: Answer = { body: '<h1>It works</h1>' };
test.each<[string, Answer, object]>([
  ['201', taking('r2', 201), { kind: 'accepted', reference: 'r2' }],
  ['a page that says 200 to all', page, { kind: 'unavailable' }],
  ['a reference that is no name', taking('two words'), { kind: 'unavailable' }],
  ['a reference that is a number', taking(7), { kind: 'unavailable' }],
  ['an answer that breaks off', { body: '{"reference":"r', fault: 'cut' }, { kind: 'unavailable' }],
  ['500', { status: 500 }, { kind: 'unavailable' }],
  ['502', { status: 502 }, { kind: 'unavailable' }],
  ['a broken line', { fault: 'reset' }, { kind: 'unavailable' }],
  [
    'a problem',
    problem(422, {
      type: 'https://carrier.example/problems/invalid_number',
      title: 'No',
      detail: 'No such number',
    }),
    { kind: 'refused', code: 'invalid_number', detail: 'The gateway answered 422: No such number' },
  ],
  [
    'a problem with a code of its own',
    problem(400, { type: 'about:blank', code: '21211', title: 'Invalid' }),
    { kind: 'refused', code: '21211', detail: 'The gateway answered 400: Invalid' },
  ],
  ['a problem without a name', problem(403, { type: 'about:blank', title: 'No' }), { code: 'refused' }],
  // The text is not at fault: another gateway may take it, or this one after a repair.
  ['401', problem(401, { type: 'signature_invalid', title: 'No' }), { kind: 'later' }],
  ['a 404 of some other server', { status: 404, body: '<h1>404</h1>' }, { kind: 'later' }],
  ['a redirect', { status: 302, headers: { location: '/' } }, { kind: 'later' }],
  ...[402, 403, 405, 407, 421, 426].map((status): [string, Answer, object] => [
    `a ${status} without a word`,
    { status },
    { kind: 'later' },
  ]),
  // The refusal seems to be about this text, but the gateway may have it, as after a second post of a text it took.
  ...[400, 408, 409, 410, 413, 422].map((status): [string, Answer, object] => [
    `a ${status} without a word`,
    { status, body: 'No' },
    { kind: 'unavailable', detail: `The gateway answered ${status} and did not say why` },
  ]),
])('%s says what became of the text', async (_name, answer, outcome) => {
  useCarrier();
  carrier.respondWith(answer);
  expect(await submit(newText())).toMatchObject(outcome);
  expect(carrier.requests).toHaveLength(1);
});

test.each([429, 503])(
  'after a %i nothing is posted until Retry-After, and the next gateway is asked',
  async (status) => {
    const second = await startWebhookReceiver({ respond: taking('s1') });
    onTestFinished(() => second.close());
    useCarrier({}, 10, { name: 'second', type: 'http', url: second.url, secret });
    carrier.respondWith(problem(status, { title: 'Slow down' }, { 'retry-after': '40' }));
    const refused = await submit(newText());
    expect(refused).toMatchObject({ kind: 'later', waitsForTurn: true });
    const { afterMs } = refused as { afterMs: number };
    expect(afterMs).toBeGreaterThan(39_000);
    expect(afterMs).toBeLessThan(51_000);
    const own = gatewayFor({ sender: 'Acme', recipient: '+447407000001' }, 'carrier')!;
    expect(await submit(newText(), own)).toMatchObject({ kind: 'later' });
    expect(await submit(newText())).toMatchObject({ kind: 'accepted', reference: 's1' });
    expect([carrier.requests.length, second.requests.length]).toEqual([1, 1]);
  },
);

test('a gateway that cannot be reached has nothing; after three in a row the next is asked', async () => {
  const second = await startWebhookReceiver({ respond: taking('s1') });
  onTestFinished(() => second.close());
  await carrier.close();
  useCarrier({}, 10, { name: 'second', type: 'http', url: second.url, secret });
  for (const _ of [1, 2, 3])
    expect(await submit(newText())).toMatchObject({
      kind: 'later',
      detail: 'The gateway cannot be reached (connection)',
    });
  expect(await submit(newText())).toMatchObject({ kind: 'accepted', reference: 's1' });
});

/** Takes all file descriptors that this process may still open. Returns the function that gives them back. */
function takeDescriptors(): () => void {
  const prlimit = (...options: string[]) =>
    execFileSync('prlimit', ['--pid', String(process.pid), ...options], { encoding: 'utf8' }).trim();
  const before = prlimit('--nofile', '--output=SOFT', '--noheadings');
  // The limit leaves few, so that they are taken quickly, and enough to start prlimit again.
  prlimit(`--nofile=${Math.max(...readdirSync('/proc/self/fd').map(Number)) + 50}:`);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
  }
  return () => {
    taken.forEach((descriptor) => closeSync(descriptor));
    prlimit(`--nofile=${before}:`);
  };
}

test('a text for which this process can open no connection has not been sent: it waits, and goes out later', async () => {
  // Only Linux has prlimit.
  if (process.platform !== 'linux') return;
  useCarrier();
  // The first text loads modules from files, which needs descriptors.
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  await closeGateways();
  const giveBack = takeDescriptors();
  const first = await submit(newText()).finally(giveBack);
  expect(first).toMatchObject({ kind: 'later', detail: expect.stringContaining('EMFILE') });
  expect(carrier.requests).toHaveLength(1);
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
});

test('what a slow gateway has no place for is not posted; what has no answer in time may have arrived', async () => {
  useCarrier({ window: 2 }, 1);
  carrier.respondWith({ fault: 'hang' });
  const gateway = gatewayFor({ sender: 'Acme', recipient: '+447407000001' })!;
  const ends = await Promise.all([1, 2, 3, 4].map(() => submit(newText(), gateway)));
  expect(ends.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable', 'later', 'later']);
  expect(carrier.requests).toHaveLength(2);
  expect(gateway.state!()).toMatchObject({ isBound: false, inUse: 0, lastError: expect.any(String) });
  carrier.respondWith(taking('back'));
  await waitFor('it is up again', async () => (await submit(newText(), gateway)).kind === 'accepted');
  expect(gateway.state!()).toMatchObject({ isBound: true, downSince: null, lastError: null });
});

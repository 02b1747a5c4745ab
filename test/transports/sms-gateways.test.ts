import { expect, test } from 'vitest';
import { type GatewaySettings, gatewayList } from '../../shared/config/sms-gateways.ts';
import { closeQueues } from '../../shared/queue/queue.ts';
import { closeGateways, gatewayFor, hasRoute, isAllSimulated, submit } from '../../shared/transports/sms.ts';
import { isRedisUp } from '../support/database/redis-up.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { type Smsc, startSmsc } from '../support/servers/smsc.ts';
import { waitFor } from '../support/time/wait-for.ts';

const smpp = { name: 'acme', type: 'smpp', url: 'smpp://user:pass%2Fword@127.0.0.1:2775' };
const http = {
  name: 'h',
  type: 'http',
  url: 'https://carrier.example/send',
  secret: 'a-secret-of-enough-characters',
};
const parse = (value: unknown): GatewaySettings[] => gatewayList.parse(JSON.stringify(value));
const toUs = { sender: 'Acme', recipient: '+12025550123' };
const toBritain = { sender: 'Acme', recipient: '+447400000001' };

function useGateways(...gateways: object[]): void {
  changeSettings({ SMS_GATEWAYS: parse(gateways) });
  atEnd(closeGateways);
}

const at = (smsc: Smsc, changes: object = {}) => ({
  ...smpp,
  url: `smpp://user:password@127.0.0.1:${smsc.port}`,
  ...changes,
});
const message = { id: 'a1', workspaceId: 'w', ...toBritain, content: 'Hi', parts: 1, wantsReceipt: true };

test('a list is read with its defaults, and the address in its parts', () => {
  expect(parse([smpp])[0]).toMatchObject({
    host: '127.0.0.1',
    port: 2775,
    isTls: false,
    systemId: 'user',
    password: 'pass/word',
    binds: 1,
    window: 10,
    longMessages: 'udh',
  });
  expect(parse([{ ...smpp, url: 'smpps://u:p@smpp.example' }])[0]).toMatchObject({ port: 3550, isTls: true });
});

test.each([
  ['[', 'must be JSON'],
  ['/no/such/file', 'must be a list in JSON, or the path of a file that can be read'],
  ['[]', 'the list'],
  [[{ ...smpp, url: 'http://hunter2' }], '[0].url must be smpp://system-id:password@host:port or smpps://'],
  [[{ ...smpp, url: 'smpp://id:50%hunter2@h:2775' }], '[0].url must be smpp://system-id:password@host:port'],
  [[smpp, { ...smpp, name: 'b', countries: ['GB', 'uk'] }], '[1].countries[1] must be a country'],
  [[{ ...smpp, countries: ['UK'] }], '[0].countries[0] must be a country'],
  [[{ ...smpp, ca: '/etc/ssl/carrier.pem' }], '[0].ca must be a certificate in PEM'],
  [[http, { ...http, name: 'b', ca: 'hunter2' }], '[1].ca must be a certificate in PEM'],
  [[{ ...smpp, validityHours: 744 }], '[0].validityHours'],
  [[{ ...smpp, prefixes: ['44'] }], '[0].prefixes[0] must be the beginning of a number'],
  [[smpp, smpp], '[1].name is that of another gateway'],
  [[{ ...smpp, name: 'simulator' }], '[0].name must be simulator for the type simulator, and for no other'],
  [[{ ...smpp, type: 'pigeon' }], '[0].type'],
  [[{ ...smpp, windw: 5 }], '[0] Unrecognized key: "windw"'],
  [[{ ...smpp, window: 0 }], '[0].window'],
  [[{ ...smpp, binds: 0 }], '[0].binds'],
  [[smpp, { ...smpp, name: 'b', binds: 9 }], '[1].binds'],
  [[{ ...http, binds: 2 }], '[0] Unrecognized key: "binds"'],
  [[http, { ...http, name: 'b', secret: 'hunter2' }], '[1].secret must have at least 16 characters'],
  [
    [{ ...http, url: 'https://u:hunter2@carrier.example' }],
    '[0].url must be an address that begins with http',
  ],
  [[{ ...http, url: 'carrier.example' }], '[0].url must be an address that begins with http'],
  [[{ ...http, systemType: 'x' }], '[0] Unrecognized key: "systemType"'],
])('%j is refused, with the place of the fault and without its secrets', (value, fault) => {
  const parsed = gatewayList.safeParse(typeof value === 'string' ? value : JSON.stringify(value));
  const text = parsed.error?.issues[0]?.message ?? '';
  expect(text).toContain(fault);
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('pass%2Fword');
});

test('a message takes the first gateway that fits its country, prefix and sender', () => {
  useGateways(
    { ...smpp, name: 'mobile', prefixes: ['+4474'], senders: ['ACME'] },
    { ...smpp, name: 'britain', countries: ['GB'] },
    { ...smpp, name: 'america', countries: ['US', 'CA'] },
  );
  expect(gatewayFor(toBritain)?.name).toBe('mobile');
  expect(gatewayFor({ ...toBritain, sender: 'Other' })?.name).toBe('britain');
  expect(gatewayFor({ ...toBritain, recipient: '+447555123456' })?.name).toBe('britain');
  expect(gatewayFor(toUs)?.name).toBe('america');
  // The gateway that may already have the text is chosen again.
  expect(gatewayFor(toBritain, 'britain')?.name).toBe('britain');
  expect(gatewayFor(toBritain, 'gone')?.name).toBe('mobile');
  const toFrance = { sender: 'Acme', recipient: '+33612345678' };
  expect([gatewayFor(toFrance), hasRoute(toFrance), hasRoute(toUs)]).toEqual([null, false, true]);
  // Texts to numbers that belong to no person never leave the platform.
  expect(gatewayFor({ sender: 'Acme', recipient: '+447700900123' })?.name).toBe('simulator');
  expect(hasRoute({ sender: 'Acme', recipient: '+447700900123' })).toBe(true);
  expect(isAllSimulated()).toBe(false);
});

test('gateways of one priority share by weight; others wait until they are needed', () => {
  useGateways(
    { ...smpp, name: 'last' },
    { ...smpp, name: 'three', priority: 0, weight: 3 },
    { ...smpp, name: 'one', priority: 0, weight: 1 },
    { ...smpp, name: 'never', priority: 7 },
  );
  const counts = new Map<string, number>();
  for (let index = 0; index < 4_000; index += 1) {
    const { name } = gatewayFor(toBritain)!;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  expect(counts.has('never')).toBe(false);
  // `last` is the first of the list, so it has priority 0 as well, and gets one text in five.
  expect(counts.get('last')! / 4_000).toBeCloseTo(0.2, 1);
  expect(counts.get('three')! / 4_000).toBeCloseTo(0.6, 1);
});

test('where a gateway refuses the bind or is away, messages take the next, and none is lost', async () => {
  const [refusing, sound] = [await startSmsc(), await startSmsc()];
  refusing.bindStatus = 0x0e;
  useGateways(at(refusing, { name: 'refusing' }), at(sound, { name: 'sound' }));
  // The fault is not known before the first attempt.
  expect(await submit(message)).toMatchObject({
    kind: 'later',
    detail: expect.stringContaining('the password is invalid'),
    afterMs: expect.any(Number),
  });
  expect(gatewayFor(toBritain)?.name).toBe('sound');
  expect(await submit(message)).toEqual({ kind: 'accepted', reference: 'm1' });
  expect(refusing.binds).toHaveLength(1);
  // A process that does not receive binds as a transmitter.
  expect(sound.binds[0]).toMatchObject({ id: 0x02, systemId: 'user', password: 'password' });
});

test('a carrier that wants fewer gets fewer: nothing goes for a while, and the message is not lost', async () => {
  const smsc = await startSmsc();
  smsc.submit = () => ({ status: 0x58 });
  useGateways(at(smsc));
  const first = await submit(message);
  expect(first).toMatchObject({ kind: 'later', detail: expect.stringContaining('ESME_RTHROTTLED') });
  expect(await submit(message)).toMatchObject({ kind: 'later', detail: expect.stringContaining('fewer') });
  expect(smsc.taken).toHaveLength(1);
});

test('a carrier that does not answer is left alone for a while', async () => {
  const smsc = await startSmsc();
  useGateways(at(smsc, { window: 3 }));
  // The bind, which may be slow on a busy machine, is done before the time-out is shortened.
  expect(await submit(message)).toMatchObject({ kind: 'accepted' });
  changeSettings({ SMS_TIMEOUT_SECONDS: 0.2 });
  smsc.submit = () => 'silence';
  const all = await Promise.all([submit(message), submit(message), submit(message)]);
  expect(all.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  expect(await submit(message)).toMatchObject({ kind: 'later' });
  await waitFor('those before it have come', () => smsc.taken.length >= 4);
  expect(smsc.taken).toHaveLength(4);
  changeSettings({ SMS_TIMEOUT_SECONDS: 10 });
});

test('the rate of a gateway holds', async () => {
  const smsc = await startSmsc();
  useGateways(at(smsc, { perSecond: 20, window: 50 }));
  atEnd(closeQueues);
  // The wait is long, so that a busy machine does not make the test fail.
  changeSettings({ RATE_LIMIT_WAIT_SECONDS: 30 });
  // Without Redis a process uses its own share; Redis would then grant a second burst.
  await waitFor('Redis is there', isRedisUp);
  const start = performance.now();
  await Promise.all(Array.from({ length: 12 }, () => submit(message)));
  // Two texts go at once, then one every 50 ms.
  expect(performance.now() - start).toBeGreaterThanOrEqual(10 * 50 - 1);
  expect(smsc.taken).toHaveLength(12);
});

test('of a text of several parts each has its answer, and parts that were taken are not sent again', async () => {
  const smsc = await startSmsc();
  useGateways(at(smsc));
  const long = { ...message, content: 'x'.repeat(400), parts: 3 };
  smsc.submit = ({ message: { 5: part } }) => (part === 2 ? { status: 0x14 } : { id: `000P${part}` });
  expect(await submit(long)).toMatchObject({
    kind: 'later',
    parts: [
      { part: 1, reference: 'p1' },
      { part: 3, reference: 'p3' },
    ],
  });
  const [first] = smsc.taken;
  smsc.submit = () => ({ id: 'P2' });
  const taken = [
    { part: 1, reference: 'p1' },
    { part: 3, reference: 'p3' },
  ];
  const again = () => submit({ ...long, taken });
  const accepted = await waitFor('it is taken', async () => {
    const submission = await again();
    return submission.kind === 'accepted' && submission;
  });
  expect(accepted).toEqual({
    kind: 'accepted',
    reference: 'p1',
    parts: [taken[0], { part: 2, reference: 'p2' }, taken[1]],
  });
  expect(smsc.taken).toHaveLength(4);
  // The phone joins the parts that have one reference.
  expect(smsc.taken.map(({ message: bytes }) => bytes[3])).toEqual(Array(4).fill(first!.message[3]));
  expect(smsc.taken[3]!.message.subarray(4, 6)).toEqual(Buffer.from([3, 2]));
});

test('what goes out says what the sender and the number are, and asks for a receipt', async () => {
  const smsc = await startSmsc();
  useGateways(at(smsc, { validityHours: 49 }));
  await submit(message);
  await submit({ ...message, sender: '+447400000009', content: '€ő', wantsReceipt: false });
  expect(smsc.taken).toMatchObject([
    {
      source: { ton: 5, npi: 0, address: 'Acme' },
      destination: { ton: 1, npi: 1, address: '447400000001' },
      registeredDelivery: 1,
      dataCoding: 0,
      validityPeriod: '000002010000000R',
    },
    {
      source: { ton: 1, npi: 1, address: '447400000009' },
      registeredDelivery: 0,
      dataCoding: 8,
      message: Buffer.from('20ac0151', 'hex'),
    },
  ]);
});

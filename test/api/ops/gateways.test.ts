import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import * as pauses from '../../../shared/domain/sms/gateways/pauses.ts';
import { producerConnection } from '../../../shared/queue/queue.ts';
import { setSharers, sharersOf } from '../../../shared/transports/sms/token-bucket.ts';
import { basicLogin } from '../../support/api/basic-login.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { password, samples } from './metrics-page.ts';

// The text that the carrier does not answer stays in flight while a slow machine looks at it.
changeSettings({ OPS_PASSWORD: password, SMS_TIMEOUT_SECONDS: 60 });
useDatabase();

const recipient = '+447407000001';
const secret = 'hunter2-of-the-carrier';

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

let first: Smsc;
let second: Smsc;
beforeEach(async () => {
  [first, second] = await Promise.all([startSmsc(), startSmsc()]);
  const list = [first, second].map(({ port }, index) => ({
    name: `carrier-${index + 1}`,
    type: 'smpp',
    url: `smpp://acme:${secret}@127.0.0.1:${port}`,
    window: 7,
    countries: ['GB'],
  }));
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  await query('DELETE FROM sms_gateway_pauses');
  pauses.forget();
  onTestFinished(async () => {
    await smsGateways.stop();
    first.close();
    second.close();
  });
});

const page = async () =>
  (
    await api.request('GET', '/ops/gateways', {
      headers: basicLogin(password),
    })
  ).body as string;
const figure = async (name: string, gateway = 'carrier-1') =>
  (await samples(api)).get(`messaging_sms_gateway_${name}{gateway="${gateway}"}`);
const list = async () => (await admin('gateway', 'list')).printed as Record<string, unknown>[];

test('the operator sees each gateway: bound or refused, since when, why, and how busy; never its password', async () => {
  expect(await list()).toMatchObject([{ state: 'unknown' }, { state: 'unknown' }]);
  second.bindStatus = 0x0e;
  first.submit = () => 'silence';
  smsGateways.start();
  const { id } = await sendSms(api, own, { recipient });
  const attempted = attempt(id);
  const seen = await waitFor('the states are told', async () => {
    const [one, other] = await list();
    return one!['window'] === '1/7' && other!['state'] === 'down' && [one, other];
  });
  expect(seen).toMatchObject([
    { name: 'carrier-1', type: 'smpp', state: 'up', processes: 1, bound: 1, routes: 'GB', lastError: null },
    {
      name: 'carrier-2',
      state: 'down',
      bound: 0,
      downSince: expect.stringMatching(/^20\d\d-.*Z$/),
      lastError: expect.stringContaining('the password is invalid'),
    },
  ]);
  expect(await figure('up')).toBe(1);
  expect([await figure('window'), await figure('window_in_use'), await figure('binds')]).toEqual([7, 1, 1]);
  const figures = ['up', 'binds', 'bind_refused', 'processes'].map((name) => figure(name, 'carrier-2'));
  expect(await Promise.all(figures)).toEqual([0, 0, 1, 1]);
  await waitFor('the refusal is counted', async () =>
    (await samples(api)).get('messaging_sms_gateway_losses_total{gateway="carrier-2",kind="refused"}'),
  );
  const html = await page();
  expect(html).toContain('<td>carrier-2 (smpp)</td><td>GB</td><td>down, bind refused</td><td>0 of 1</td>');
  for (const shown of [html, JSON.stringify(seen), JSON.stringify([...(await samples(api)).keys()])])
    expect(shown).not.toContain(secret);
  first.cut();
  await attempted;
  await smsGateways.stop();
  expect(await list()).toMatchObject([{ state: 'unknown' }, { state: 'unknown' }]);
});

test('a carrier that refuses the bind of a process that only sends codes is shown, until it accepts a bind', async () => {
  const skip = skippableTimers();
  first.bindStatus = 0x0e;
  const { key } = await workspace();
  const body = { name: '07404000001', sampleContent };
  expect(await api.request('POST', '/v2/senders', { key, body })).toMatchObject({ status: 201 });
  expect(second.taken).toHaveLength(1);
  const seen = await waitFor('the refusal is told', async () => {
    const views = await list();
    return views[0]!['isBindRefused'] && views;
  });
  // The process is bound to the second one for a moment only, which is worth no report.
  expect(seen).toMatchObject([
    { state: 'down', processes: 1, lastError: expect.stringContaining('the password is invalid') },
    { state: 'unknown', processes: 0, isBindRefused: false },
  ]);
  expect([await figure('bind_refused'), await figure('bind_refused', 'carrier-2')]).toEqual([1, 0]);
  expect(await page()).toContain('<td>down, bind refused</td>');
  first.bindStatus = 0;
  skip(30_000);
  await waitFor('the refusal is over', async () => (await figure('bind_refused')) === 0);
  expect(await list()).toMatchObject([{ state: 'unknown' }, { state: 'unknown' }]);
  skip(30_000);
  await waitFor('the bind is given back', () => first.connections() === 0);
});

test('of several binds of a process one may be refused: the gateway is up, and the refusal is shown', async () => {
  const skip = skippableTimers();
  changeSettings({ SMS_GATEWAYS: config.SMS_GATEWAYS!.map((settings) => ({ ...settings, binds: 2 })) });
  smsGateways.start();
  await waitFor('both are bound', async () => (await list())[0]!['bound'] === 2);
  first.bindStatus = 0x0d;
  first.cutNewest();
  await waitFor('one is lost', () => first.connections() === 1);
  skip(1_000);
  const seen = await waitFor('the refusal is told', async () => {
    const [one] = await list();
    return one!['isBindRefused'] && one;
  });
  expect(seen).toMatchObject({
    state: 'up',
    processes: 1,
    bound: 1,
    binds: 2,
    window: '0/7',
    downSince: null,
  });
  expect([await figure('up'), await figure('binds'), await figure('bind_refused')]).toEqual([1, 1, 1]);
  expect(await page()).toContain('<td>up, bind refused</td><td>1 of 2</td>');
});

test('the operator sees how many messages a gateway takes in a second; each part of a text counts', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const at = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(at);
  onTestFinished(() => {
    clock.mockRestore();
    vi.useRealTimers();
  });
  smsGateways.start();
  const { id, parts } = await sendSms(api, own, { recipient, content: 'x'.repeat(400) });
  expect(parts).toBe(3);
  await attempt(id);
  clock.mockReturnValue(at + 2_000);
  vi.advanceTimersByTime(2_000);
  clock.mockRestore();
  await waitFor('the rate is told', async () => (await figure('taken_per_second')) === 1.5);
  expect(await list()).toMatchObject([{ perSecond: 1.5 }, { perSecond: 0 }]);
  expect(await page()).toContain('<td>1.5</td>');
});

test('a gateway that is paused takes no new texts: they take the next, and wait where there is none, until it is resumed', async () => {
  const send = async () => {
    const { id } = await sendSms(api, own, { recipient });
    await attempt(id);
    return smsOf(own, id);
  };
  const paused = await admin('gateway', 'pause', 'carrier-1');
  expect(paused.printed).toMatchObject({ name: 'carrier-1', state: 'paused', pausedAt: expect.any(String) });
  expect(await send()).toMatchObject({ status: 'sent', gateway: 'carrier-2' });
  await admin('gateway', 'pause', 'carrier-2');
  const waiting = await send();
  expect(waiting).toMatchObject({ status: 'queued', gateway: null, uncertainCount: 0 });
  expect(waiting.dueAt!.getTime()).toBeGreaterThan(waiting.createdAt.getTime() + 20_000);
  expect([first.taken.length, second.taken.length]).toEqual([0, 1]);
  expect(await figure('paused')).toBe(1);
  await admin('gateway', 'resume', 'carrier-1');
  await advanceClock(60_000);
  await attempt(waiting.id);
  expect(await smsOf(own, waiting.id)).toMatchObject({ status: 'sent', gateway: 'carrier-1' });
  expect(await admin('gateway', 'pause', 'carrier-3')).toEqual({
    code: 1,
    printed: 'There is no gateway carrier-3. Gateways: carrier-1, carrier-2',
  });
});

test('the operator tries a gateway with a text, and is told what it says', async () => {
  first.submit = () => ({ id: 'T1' });
  second.submit = () => ({ status: 0x0b });
  expect((await admin('gateway', 'test', recipient)).printed).toMatchObject({
    gateway: 'carrier-1',
    outcome: 'accepted',
    reference: 't1',
  });
  await admin('gateway', 'pause', 'carrier-2');
  const refused = await admin('gateway', 'test', recipient, '--gateway', 'carrier-2', '--sender', 'Acme');
  expect(refused).toMatchObject({
    code: 1,
    printed: expect.stringContaining(
      'The gateway carrier-2 did not accept the text (refused): The gateway answered ESME_RINVDSTADR',
    ),
  });
  expect(second.taken[0]).toMatchObject({
    source: { address: 'Acme' },
    destination: { address: '447407000001' },
  });
  expect(await admin('gateway', 'test', '+447700900123')).toMatchObject({
    code: 1,
    printed: expect.stringContaining('simulator'),
  });
  const taken = first.taken.length;
  expect(await admin('gateway', 'test', '+447700900123', '--gateway', 'carrier-1')).toMatchObject({
    code: 1,
    printed: expect.stringContaining('simulator'),
  });
  expect(first.taken).toHaveLength(taken);
  expect(await admin('gateway', 'test', '12')).toMatchObject({
    code: 1,
    printed: expect.stringContaining('is not a phone number'),
  });
});

test('a process that shares a rate knows how many others hold the gateway', async () => {
  onTestFinished(() => setSharers(new Map()));
  changeSettings({
    SMS_GATEWAYS: config.SMS_GATEWAYS!.map((settings) => ({ ...settings, perSecond: 50 })),
  });
  const other = JSON.stringify({ at: Date.now() + 3_600_000, state: {} });
  const names = ['carrier-1 one', 'carrier-1 two', 'carrier-2 one'];
  await producerConnection().hset(
    `${config.QUEUE_PREFIX}:gateways`,
    Object.fromEntries(names.map((name) => [name, other])),
  );
  onTestFinished(async () => {
    await producerConnection().hdel(`${config.QUEUE_PREFIX}:gateways`, ...names);
  });
  expect(sharersOf('carrier-1')).toBe(1);
  smsGateways.start();
  await waitFor('the others are counted', () => sharersOf('carrier-1') === 3);
  expect(sharersOf('carrier-2')).toBe(2);
});

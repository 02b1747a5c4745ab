import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../shared/config/sms-gateways.ts';
import { closeQueues } from '../../shared/queue/queue.ts';
import {
  closeGateways,
  gatewayFor,
  pauseGateways,
  type Submission,
  submit,
} from '../../shared/transports/sms.ts';
import { isRedisUp } from '../support/database/redis-up.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { type Smsc, startSmsc } from '../support/servers/smsc.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { isPending, skippableTimers } from '../support/time/skip-time.ts';
import { waitFor } from '../support/time/wait-for.ts';

/** How texts wait for a gateway that takes them slowly: in their rows, and not in a worker. */

beforeAll(async () => {
  atEnd(closeQueues);
  atEnd(closeGateways);
  await waitFor('Redis is there', isRedisUp);
});

async function useCarrier(changes: object): Promise<Smsc> {
  const smsc = await startSmsc();
  const url = `smpp://acme:secret@127.0.0.1:${smsc.port}`;
  changeSettings({
    SMS_TIMEOUT_SECONDS: 60,
    SMS_GATEWAYS: gatewayList.parse(JSON.stringify([{ name: 'carrier', type: 'smpp', url, ...changes }])),
  });
  // The bind may be slow on a busy machine.
  expect(await submit(newText('urgent'))).toMatchObject({ kind: 'accepted' });
  return smsc;
}

let made = 0;
const newText = (lane: 'urgent' | 'default' | 'bulk', workspaceId = 'w') => {
  made += 1;
  const recipient = `+4474070${String(made).padStart(5, '0')}`;
  return { id: `sms_${made}`, workspaceId, lane, sender: 'Acme', recipient, content: 'Hi', parts: 1 };
};

const waitOf = (submission: Submission) => (submission.kind === 'later' ? submission.afterMs! : 0);

test('texts beyond the rate of a gateway leave the worker at once, and come back one after the other', async () => {
  const [perSecond, texts, waiting] = [2, 60, 10];
  await useCarrier({ perSecond });
  const start = performance.now();
  const waits: number[] = [];
  const all = Array.from({ length: texts }, async () => {
    const wait = waitOf(await submit(newText('bulk')));
    if (wait > 0) waits.push(wait);
  });
  await waitFor('most do not wait here', () => waits.length >= texts - waiting);
  const elapsedMs = performance.now() - start;
  // The gateway takes far fewer than 20 texts a second, which is how many come back at most.
  expect(Math.max(...waits)).toBeGreaterThanOrEqual((texts - waiting - 1) * 50 - elapsedMs);
  // A single text does not queue up behind those of a batch.
  expect(waitOf(await submit(newText('default')))).toBeLessThan(1_000);
  await Promise.all(all);
});

test('a text does not come back behind all those of another workspace', async () => {
  const smsc = await useCarrier({ perSecond: 10 });
  smsc.submit = () => ({ status: 0x58 });
  await submit(newText('bulk', 'large'));
  const waits = (
    await Promise.all(Array.from({ length: 2_000 }, () => submit(newText('bulk', 'large'))))
  ).map(waitOf);
  expect(Math.max(...waits)).toBeGreaterThan(50_000);
  expect(waitOf(await submit(newText('bulk', 'small')))).toBeLessThan(5_000);
});

test.each([
  { limit: 'rate', changes: { perSecond: 10 }, answerMs: 0 },
  { limit: 'window', changes: { window: 1 }, answerMs: 100 },
])(
  'at a gateway whose $limit is full, a single text goes before batches, and another workspace has its share',
  async ({ changes, answerMs }) => {
    const smsc = await useCarrier(changes);
    smsc.submit = (_, count) => sleep(answerMs, { id: `m${count}` });
    const batch = Array.from({ length: 300 }, () => submit(newText('bulk', 'large')));
    await waitFor('the batch goes out', () => smsc.taken.length > 3);
    const before = smsc.taken.length;
    const [single, small] = [newText('default', 'large'), newText('bulk', 'small')];
    for (const { kind } of await Promise.all([single, small].map((text) => submit(text))))
      expect(kind).toBe('accepted');
    const placeOf = ({ recipient }: typeof single) =>
      smsc.taken.findIndex(({ destination }) => destination.address === recipient.slice(1)) - before;
    // A token or a place may have been on its way to a text of the batch.
    expect(placeOf(single)).toBeLessThanOrEqual(2);
    expect(placeOf(small)).toBeLessThanOrEqual(20);
    await Promise.all(batch);
  },
);

test('texts that a gateway had no room for are looked for once it takes texts again after it refused all for long', async () => {
  const skip = skippableTimers({ clock: true });
  const smsc = await useCarrier({});
  const { returns } = gatewayFor(newText('default'))!;
  returns!.noneLeft();
  const outages = returns!.outage();
  const refuse = async (times: number) => {
    smsc.submit = () => ({ status: 0x14 });
    const before = smsc.taken.length;
    for (let count = 0; count < times; count += 1) {
      expect((await submit(newText('default'))).kind).toBe('later');
      skip(30_000);
    }
    expect(smsc.taken.length - before).toBe(times);
    smsc.submit = () => ({ id: 'back' });
    expect((await submit(newText('default'))).kind).toBe('accepted');
  };
  await refuse(1);
  expect([returns!.outage() - outages, returns!.step()]).toEqual([0, 0]);
  await refuse(2);
  returns!.step();
  expect(returns!.outage() - outages).toBe(1);
  expect(returns!.step()).toBeGreaterThan(0);
});

test('texts for a gateway that the operator has paused come back one after the other, when it is resumed or before', async () => {
  await useCarrier({});
  onTestFinished(() => pauseGateways([]));
  pauseGateways(['carrier']);
  const putOff = await Promise.all(Array.from({ length: 3_000 }, () => submit(newText('bulk'))));
  // Such a text expires after its time, and the gateway brings it forward.
  for (const one of putOff) expect(one).toMatchObject({ isPutOff: true, waitsForTurn: false });
  const waits = putOff.map(waitOf);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...waits)).toBeGreaterThan(60_000);
});

test('a carrier that needs seconds for each answer is not silent', async () => {
  const skip = skippableTimers({ clock: true });
  const smsc = await useCarrier({ window: 1 });
  const answers: (() => void)[] = [];
  smsc.submit = (_, count) => new Promise((resolve) => answers.push(() => resolve({ id: `slow-${count}` })));
  const answerNext = async (count: number) => {
    await waitFor('the carrier has the text', () => answers.length === count);
    skip(5_000);
    answers[count - 1]!();
  };
  const first = submit(newText('default'));
  await answerNext(1);
  expect((await first).kind).toBe('accepted');
  const others = [2, 3].map(() => submit(newText('default')));
  for (const count of [2, 3]) await answerNext(count);
  expect((await Promise.all(others)).map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
});

test('texts that wait for the rate of an HTTP gateway take no place from those that may go', async () => {
  const receiver = await startWebhookReceiver({
    respond: ({ body }) => ({ body: JSON.stringify({ reference: JSON.parse(body.toString()).id }) }),
  });
  const { url } = receiver;
  const list = [{ name: 'rated', type: 'http', url, secret: 's'.repeat(16), window: 1, perSecond: 0.5 }];
  changeSettings({ SMS_TIMEOUT_SECONDS: 60, SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  expect((await submit(newText('default'))).kind).toBe('accepted');
  const second = submit(newText('default'));
  expect(await isPending(second)).toBe(true);
  // The carrier owes no answer, so it is not silent.
  expect(gatewayFor(newText('default'))!.state!().inUse).toBe(0);
  expect((await second).kind).toBe('accepted');
});

test('the parts of a text that are put off delay others no more than one text', async () => {
  const smsc = await useCarrier({ window: 30, perSecond: 20 });
  smsc.submit = () => ({ status: 0x58 });
  const long = { ...newText('default'), content: 'x'.repeat(20 * 153), parts: 20 };
  const first = waitOf(await submit(long));
  expect(smsc.taken).toHaveLength(21);
  expect(waitOf(await submit(newText('default'))) - first).toBeLessThan(400);
});

test('texts for a carrier that answers none of those in its window wait as long as for one that is down', async () => {
  const smsc = await useCarrier({ window: 2 });
  smsc.submit = () => 'silence';
  const underWay = [1, 2].map(() => submit(newText('default')));
  await waitFor('the window is full', () => smsc.taken.length === 3);
  expect(await submit(newText('default'))).toMatchObject({
    kind: 'later',
    detail: expect.stringContaining('slow to answer'),
  });
  expect(waitOf(await submit(newText('default')))).toBeGreaterThanOrEqual(5_000);
  smsc.cut();
  await Promise.all(underWay);
});

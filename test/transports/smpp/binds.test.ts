import { afterEach, beforeEach, expect, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { commands } from '../../../shared/transports/sms/smpp/pdu.ts';
import {
  closeGateways,
  gatewayFor,
  gatewayNamed,
  openGateways,
  submit,
} from '../../../shared/transports/sms.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let first: Smsc;
let second: Smsc;
beforeEach(async () => {
  [first, second] = await Promise.all([startSmsc(), startSmsc()]);
});
afterEach(closeGateways);

/** Sets up the carriers in their order. An answer to a bind may take 12 seconds. */
function useCarriers(...carriers: Smsc[]): void {
  useCarriersWith({}, ...carriers);
}

function useCarriersWith(changes: object, ...carriers: Smsc[]): void {
  const list = carriers.map(({ port }, index) => ({
    name: `carrier-${index + 1}`,
    type: 'smpp',
    url: `smpp://acme:secret@127.0.0.1:${port}`,
    ...changes,
  }));
  changeSettings({ SMS_TIMEOUT_SECONDS: 20, SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
}

let made = 0;
const newText = () => {
  made += 1;
  const recipient = `+4474070${String(made).padStart(5, '0')}`;
  return { id: `sms_${made}`, workspaceId: 'w', sender: 'Acme', recipient, content: 'Hi', parts: 1 };
};

const nothing = () => undefined;
const acknowledgement = { written: nothing, read: nothing, unread: nothing };
const handlers = { receipt: async () => undefined, text: async () => acknowledgement };

test('a carrier that is silent at the bind gets no texts during further attempts, where the process receives', async () => {
  useCarriers(first, second);
  const skip = skippableTimers();
  const answers = Promise.withResolvers<void>();
  first.beforeBind = answers.promise;
  const opened = openGateways(handlers);
  await waitFor('the carrier is asked', () => first.binds.length === 1);
  // Before the first failure nothing speaks against the carrier.
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
  skip(12_000);
  await opened;
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
  skip(1_000);
  await waitFor('the carrier is asked again', () => first.binds.length === 2);
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.taken.length, second.taken.length]).toEqual([0, 1]);
  answers.resolve();
  await waitFor('the carrier is bound', () => gatewayFor(newText())!.name === 'carrier-1');
  expect(first.binds).toHaveLength(2);
});

test('a process that only sends tries a carrier that was silent at the bind with one text at a time', async () => {
  useCarriers(first, second);
  const skip = skippableTimers();
  const answers = Promise.withResolvers<void>();
  first.beforeBind = answers.promise;
  const tries: Promise<unknown>[] = [];
  for (const binds of [1, 2]) {
    await waitFor('the carrier may be tried', () => gatewayFor(newText())!.name === 'carrier-1');
    tries.push(submit(newText()));
    await waitFor('the carrier is asked', () => first.binds.length === binds);
    if (binds === 2) break;
    skip(12_000);
    await waitFor('the bind has failed', () => gatewayNamed('carrier-1')!.state!().downSince !== null);
  }
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.taken.length, second.taken.length]).toEqual([0, 1]);
  answers.resolve();
  expect(await Promise.all(tries)).toMatchObject([{ kind: 'later' }, { kind: 'accepted' }]);
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
});

test('texts wait for the bind of a carrier that was away, where no other takes them', async () => {
  useCarriers(first);
  const skip = skippableTimers();
  const answers = Promise.withResolvers<void>();
  first.beforeBind = answers.promise;
  const opened = openGateways(handlers);
  await waitFor('the carrier is asked', () => first.binds.length === 1);
  skip(12_000);
  await opened;
  skip(1_000);
  await waitFor('the carrier is asked again', () => first.binds.length === 2);
  const text = submit(newText());
  answers.resolve();
  expect(await text).toMatchObject({ kind: 'accepted' });
  expect([first.binds.length, first.taken.length]).toEqual([2, 1]);
});

test('a process that receives has several binds, each with its window; one that only sends has one', async () => {
  useCarriersWith({ binds: 2, window: 2 }, first);
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect(first.binds).toHaveLength(1);
  await closeGateways();
  await openGateways(handlers);
  expect(first.binds.slice(1).map(({ id }) => id)).toEqual(Array(2).fill(commands.bind_transceiver));
  const gateway = gatewayNamed('carrier-1')!;
  expect(gateway.state!()).toMatchObject({ isBound: true, bound: 2, binds: 2, window: 4, inUse: 0 });
  first.takenOn.splice(0);
  first.submit = () => 'silence';
  const underWay: ReturnType<typeof submit>[] = [];
  for (const count of [1, 2, 3, 4]) {
    underWay.push(submit(newText()));
    await waitFor('it is taken', () => first.takenOn.length === count);
  }
  // Each text goes to the session with the fewest, and a fifth one finds no room.
  expect(first.takenOn).toEqual([2, 3, 2, 3]);
  expect(gateway.state!()).toMatchObject({ inUse: 4, window: 4 });
  const fifth = submit(newText());
  first.cut();
  expect((await Promise.all(underWay)).map(({ kind }) => kind)).toEqual(Array(4).fill('unavailable'));
  expect(await fifth).toMatchObject({ kind: 'later' });
  expect(first.takenOn).toHaveLength(4);
});

test('a gateway is up while one of its binds is; what the carrier sends is taken on any', async () => {
  useCarriersWith({ binds: 2 }, first, second);
  const skip = skippableTimers();
  const texts: string[] = [];
  const text = async ({ content }: { content: string }) => {
    texts.push(content);
    return acknowledgement;
  };
  await openGateways({ ...handlers, text });
  const gateway = gatewayNamed('carrier-1')!;
  expect(await first.answerOf(first.deliver({ message: Buffer.from('newest') }))).toBe(0);
  first.bindStatus = 0x0d;
  first.cutNewest();
  await waitFor('one is lost', () => gateway.state!().bound === 1);
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
  expect(gateway.state!()).toMatchObject({ isBound: true, downSince: null, lastError: expect.any(String) });
  for (const _ of [1, 2]) expect(await submit(newText(), gateway)).toMatchObject({ kind: 'accepted' });
  expect(await first.answerOf(first.deliver({ message: Buffer.from('left') }))).toBe(0);
  expect(texts).toEqual(['newest', 'left']);
  skip(1_000);
  await waitFor('its next bind is refused', () => gateway.state!().isRefused);
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
  first.bindStatus = 0;
  skip(30_000);
  await waitFor('it is bound again', () => gateway.state!().bound === 2);
  expect(gateway.state!()).toMatchObject({ lastError: null, isRefused: false });
  first.cut();
  await waitFor('both are lost', () => gateway.state!().bound === 0);
  expect(gateway.state!()).toMatchObject({ isBound: false, downSince: expect.any(Date) });
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
});

test('a bind that has stopped answering gets no texts while another one answers', async () => {
  useCarriersWith({ binds: 2 }, first);
  const skip = skippableTimers({ clock: true });
  await openGateways(handlers);
  const answer = Promise.withResolvers<{ id: string }>();
  first.submit = () => (first.takenOn.at(-1) === 1 ? 'silence' : answer.promise);
  const submitted: ReturnType<typeof submit>[] = [];
  for (const count of [1, 2, 3]) {
    submitted.push(submit(newText()));
    await waitFor('it is taken', () => first.takenOn.length === count);
    if (count === 1) skip(2_500);
  }
  expect(first.takenOn).toEqual([1, 2, 2]);
  answer.resolve({ id: 'm' });
  await Promise.all(submitted.slice(1));
  first.cut();
  expect((await Promise.all(submitted)).map(({ kind }) => kind)).toEqual([
    'unavailable',
    'accepted',
    'accepted',
  ]);
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
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
  const list = carriers.map(({ port }, index) => ({
    name: `carrier-${index + 1}`,
    type: 'smpp',
    url: `smpp://acme:secret@127.0.0.1:${port}`,
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

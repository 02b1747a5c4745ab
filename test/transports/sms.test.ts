import { expect, onTestFinished, test } from 'vitest';
import { query } from '../../shared/db/client.ts';
import { gatewayFor, submit, type TextMessage } from '../../shared/transports/sms.ts';
import { workspace } from '../support/data/factory.ts';
import { textsTo } from '../support/data/sender-codes.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { useTextGateway } from '../support/servers/text-gateway.ts';

useDatabase();

const message = (workspaceId: string, recipient: string): TextMessage => ({
  id: 'sms_01h455vb4pex5vsknk084sn02q',
  workspaceId,
  sender: 'Acme',
  recipient,
  content: 'Grüße 😀\n2',
  parts: 1,
});

test('the simulator keeps what it is given, for the workspace that sent it', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const submission = await submit(message(own.workspaceId, '+447407000001'));
  expect(submission).toEqual({ kind: 'accepted', reference: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(await textsTo(own.workspaceId, '07407000001')).toEqual([{ sender: 'Acme', content: 'Grüße 😀\n2' }]);
  expect(await textsTo(other.workspaceId, '07407000001')).toEqual([]);
});

test('where the simulator cannot keep it, it is unavailable', async () => {
  const own = await workspace();
  await query('RENAME TABLE simulator_messages TO simulator_messages_away');
  const submission = await submit(message(own.workspaceId, '+447407000002'));
  await query('RENAME TABLE simulator_messages_away TO simulator_messages');
  expect(submission).toEqual({ kind: 'unavailable', detail: expect.any(String) });
});

test('numbers that are nobody’s never leave the simulator, whatever the gateway', () => {
  onTestFinished(useTextGateway().stop);
  for (const last of ['000', '123', '999'])
    expect(gatewayFor({ sender: 'Acme', recipient: `+447700900${last}` })?.name).toBe('simulator');
  for (const number of ['+447700899999', '+447700901000', '+4477009000000', '+17700900123'])
    expect(gatewayFor({ sender: 'Acme', recipient: number })?.name).toBe('network');
});

test('a number that is nobody’s reaches no carrier, even where the caller has chosen its gateway', async () => {
  const network = useTextGateway();
  onTestFinished(network.stop);
  const { workspaceId } = await workspace();
  const carrier = gatewayFor({ sender: 'Acme', recipient: '+447407000001' });
  expect(await submit(message(workspaceId, '+447700900123'), carrier)).toMatchObject({
    kind: 'refused',
    code: 'no_route',
  });
  expect(network.taken).toEqual([]);
});

test('a gateway that gives no answer in time, or breaks, is unavailable', async () => {
  const network = useTextGateway();
  onTestFinished(() => {
    network.stop();
    changeSettings({ SMS_TIMEOUT_SECONDS: 10 });
  });
  changeSettings({ SMS_TIMEOUT_SECONDS: 0.1 });
  const { workspaceId } = await workspace();
  network.says = () => new Promise(() => {});
  expect(await submit(message(workspaceId, '+447407000003'))).toMatchObject({
    kind: 'unavailable',
    detail: expect.stringContaining('in time'),
  });
  network.says = () => Promise.reject(new Error('reset'));
  expect(await submit(message(workspaceId, '+447407000003'))).toEqual({
    kind: 'unavailable',
    detail: 'reset',
  });
});

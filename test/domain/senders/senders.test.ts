import { beforeAll, expect, test } from 'vitest';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { awaitingMobile, codeSentTo } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let empty: typeof own;
let virtualNumber: string;
beforeAll(async () => {
  const api = await startApi();
  [own, empty] = [await workspace(), await workspace()];
  const post = async (path: string, body: object) =>
    (await api.request('POST', path, { key: own.key, body })).body;
  const request = (name: string, countries: string[]) =>
    post('/v2/senders', { name, countries, sampleContent: 'Twenty characters or more.' });
  const acme = await request('Acme Ltd', ['GB', 'FR', 'IE']);
  await senders.approve(acme.id, ['GB', 'IE']);
  await senders.reject(acme.id, ['FR'], 'No');
  await request('Waiting', ['GB']);
  await awaitingMobile(api, own, '07406000001');
  const { id } = (await api.request('GET', '/v2/senders?limit=1', { key: own.key })).body.data[0];
  await post(`/v2/senders/${id}/verify`, { code: await codeSentTo(own.workspaceId, '07406000001') });
  await awaitingMobile(api, own, '07406000002');
  ({ id: virtualNumber } = await senders.addNumber(own.workspaceId, ['GB', 'DE']));
  await senders.assignNumber(virtualNumber, '+447406000003');
  await senders.addNumber(own.workspaceId);
});

test.each([
  ['Acme Ltd', 'GB', 'Acme Ltd', 'Acme Ltd'],
  [' acme LTD ', 'IE', 'Acme Ltd', 'Acme Ltd'],
  [null, 'GB', 'Acme Ltd', 'Acme Ltd'],
  ['07406000001', 'GB', '07406000001', '+447406000001'],
  ['+44 7406 000001', 'GB', '07406000001', '+447406000001'],
  ['+447406000003', 'DE', '+447406000003', '+447406000003'],
  ['07406 000003', 'GB', '+447406000003', '+447406000003'],
])('%j may send to %s, as %s', async (name, country, shown, address) => {
  expect(await senders.findApproved(own.workspaceId, name, country, false)).toEqual({
    ok: true,
    sender: { id: expect.stringMatching(/^sender_/), kind: expect.any(String), name: shown, address },
  });
});

test.each([
  ['Acme Ltd', 'FR', 'Acme Ltd', 'cannot be Acme Ltd: it was rejected for FR'],
  [null, 'FR', 'Acme Ltd', 'cannot be Acme Ltd: it was rejected for FR'],
  ['Acme Ltd', 'US', 'Acme Ltd', 'cannot be Acme Ltd: it was not requested for US'],
  ['Acme Ltd', null, 'Acme Ltd', 'cannot be chosen, because the country of the recipient is unknown'],
  ['Waiting', 'GB', 'Waiting', 'cannot be Waiting: it is not approved yet for GB'],
  ['07406000002', 'GB', '+447406000002', 'cannot be 07406000002 yet: its status is awaiting_verification'],
  ['Acme', 'GB', null, 'is not a sender of this workspace'],
  ['Not yet assigned', 'GB', null, 'is not a sender of this workspace'],
  ['', 'GB', null, 'is not a sender of this workspace'],
  ['x'.repeat(100_000), 'GB', null, 'is not a sender of this workspace'],
])('%j may not send to %s; %j is meant: sender %s', async (name, country, address, message) => {
  expect(await senders.findApproved(own.workspaceId, name, country, true)).toEqual({
    ok: false,
    message,
    address,
  });
});

test('a workspace without a default must name a sender, and has none of another workspace', async () => {
  const missing = {
    ok: false,
    message: 'is required, because the workspace has no default sender',
    address: null,
  };
  expect(await senders.findApproved(empty.workspaceId, null, 'GB', true)).toEqual(missing);
  const foreign = { ok: false, message: 'is not a sender of this workspace', address: null };
  for (const name of ['Acme Ltd', '+447406000003', '07406000001'])
    expect(await senders.findApproved(empty.workspaceId, name, 'GB', true)).toEqual(foreign);
});

test('the operator adds one that may send at once', async () => {
  const there = await workspace();
  const added = await senders.addApproved(there.workspaceId, 'Trusted');
  expect(added).toMatchObject({ status: 'approved', default: true });
  expect(await senders.findApproved(there.workspaceId, null, 'GB', true)).toMatchObject({ ok: true });
  await expect(senders.addApproved(there.workspaceId, 'TRUSTED')).rejects.toThrow('already');
  await expect(senders.addApproved(there.workspaceId, 'Other', ['UK'])).rejects.toThrow('ISO 3166-1');
});

import { beforeAll, expect, test } from 'vitest';
import * as businessProfiles from '../../../shared/domain/senders/business-profiles.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const request = async (body: object) =>
  (await api.request('POST', '/v2/senders', { key: own.key, body: { sampleContent, ...body } })).body;
const read = async (id: string) => (await api.request('GET', `/v2/senders/${id}`, { key: own.key })).body;

test('the operator verifies a business, reviews its sender by country, and sees what is left to review', async () => {
  const { id: businessProfileId } = await businessProfiles.create(own.workspaceId, 'Acme Holdings');
  const { id } = await request({ name: 'Acme', countries: ['GB', 'FR', 'IE'], businessProfileId });
  const [early, held] = await Promise.all([
    admin('sender', 'approve', id, 'GB'),
    admin('sender', 'list', '--pending'),
  ]);
  expect(early).toMatchObject({ code: 1, printed: expect.stringContaining('is not verified') });
  expect(held.printed).toEqual([]);
  const verified = await admin('profile', 'verify', businessProfileId);
  expect(verified.printed).toMatchObject({ name: 'Acme Holdings', status: 'verified' });
  const [rejected, approved] = await Promise.all([
    admin('sender', 'reject', id, 'FR', '--reason', 'Not registered there'),
    admin('sender', 'approve', id, 'GB'),
  ]);
  expect(rejected.printed).toMatchObject({ rejected: 'FR' });
  expect(approved.printed).toMatchObject({ status: 'approved', approved: 'GB', default: true });
  expect((await read(id)).countries[0]).toEqual({
    country: 'FR',
    status: 'rejected',
    reason: 'Not registered there',
  });
  const waiting = await admin('sender', 'list', '--pending');
  expect(waiting.printed).toEqual([
    {
      id,
      name: 'Acme',
      workspace: 'Tests',
      business: 'Acme Holdings',
      countries: 'IE',
      sampleContent,
      createdAt: expect.any(String),
    },
  ]);
});

test('the operator adds a sender, makes it the default, and gives and takes a virtual number', async () => {
  const there = await workspace();
  await senders.addApproved(there.workspaceId, 'First');
  const [second, number, profile] = await Promise.all([
    admin('sender', 'add', there.workspaceId, 'Second', '--country', 'GB', 'FR'),
    admin('number', 'add', there.workspaceId),
    admin('profile', 'create', there.workspaceId, 'A business'),
  ]);
  expect(second.printed).toMatchObject({ approved: 'FR GB', default: false });
  expect(number.printed).toMatchObject({ kind: 'virtual_number', name: 'Not yet assigned' });
  expect(profile.printed).toMatchObject({ name: 'A business', status: 'unverified' });
  const [chosen, assigned] = await Promise.all([
    admin('sender', 'default', second.printed.id),
    admin('number', 'assign', number.printed.id, '07408 000 001'),
  ]);
  expect(chosen.printed).toMatchObject({ name: 'Second', default: true });
  expect(assigned.printed).toMatchObject({ name: '+447408000001', status: 'approved' });
  const unassigned = await admin('number', 'unassign', number.printed.id);
  expect(unassigned.printed).toMatchObject({ name: 'Not yet assigned', status: 'pending' });
  const [listed, profiles, removed] = await Promise.all([
    admin('sender', 'list', there.workspaceId),
    admin('profile', 'list', there.workspaceId),
    admin('number', 'remove', number.printed.id),
  ]);
  expect(listed.printed.map(({ name }: any) => name)).toEqual(expect.arrayContaining(['Second', 'First']));
  expect(profiles.printed).toMatchObject([{ name: 'A business' }]);
  expect(removed.printed).toEqual({ removed: number.printed.id });
});

test('a sender that is not there is said', async () => {
  const unknown = 'sender_01h455vb4pex5vsknk084sn02q';
  const fault = await admin('sender', 'approve', unknown, 'GB');
  expect(fault).toMatchObject({
    code: 1,
    printed: expect.stringContaining(`There is no sender ${unknown}`),
  });
});

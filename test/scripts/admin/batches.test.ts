import { beforeAll, beforeEach, expect, test } from 'vitest';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workOff } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  own = await textingWorkspace();
});

test('the operator sees the batches of a workspace, and those of all that have something left to do', async () => {
  const other = await textingWorkspace();
  const [first, second] = [
    await newBatch(api, own, { messages: messagesTo(2) }),
    await newBatch(api, own, { messages: messagesTo(3) }),
  ];
  const elsewhere = await newBatch(api, other, { messages: messagesTo(1) });
  await admin('batch', 'cancel', first.id);
  await workOff(first.id);
  const list = async (...args: string[]) =>
    (await admin('batch', 'list', ...args)).printed as { id: string }[];
  expect(await list(own.workspaceId)).toEqual([
    expect.objectContaining({
      id: second.id,
      workspace: own.workspaceId,
      status: 'processing',
      total: 3,
      waiting: 3,
    }),
    expect.objectContaining({ id: first.id, status: 'cancelled', total: 2, waiting: 0 }),
  ]);
  // The newest batches come first, and after them those that other tests left.
  const ids = (await list()).map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([elsewhere.id, second.id]);
  expect(ids).not.toContain(first.id);
});

test('the operator cancels a batch, once', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(2) });
  const cancelled = await admin('batch', 'cancel', id);
  expect(cancelled.printed).toMatchObject({ id, workspace: own.workspaceId, status: 'cancelled', total: 2 });
  await workOff(id);
  expect((await batchOf(api, own, id)).counts).toMatchObject({ waiting: 0, cancelled: 2 });
  expect(await admin('batch', 'cancel', id)).toMatchObject({
    code: 1,
    printed: expect.stringContaining('The batch is cancelled'),
  });
});

test('the operator has a paused batch go on, once its cause has ended', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(2) });
  await workspaces.change(own.workspaceId, { sendingBlocked: true });
  await workOff(id);
  expect((await admin('batch', 'resume', id)).printed).toMatchObject({ pausedReason: 'sending_blocked' });
  await workspaces.change(own.workspaceId, { sendingBlocked: false });
  const resumed = await admin('batch', 'resume', id);
  expect(resumed.printed).toMatchObject({ status: 'processing', pausedReason: null });
  await workOff(id);
  expect((await admin('batch', 'show', id)).printed).toMatchObject({
    id,
    waiting: 0,
    queued: 2,
    costGbp: '0.0000',
  });
  expect(await admin('batch', 'resume', id)).toMatchObject({ code: 1 });
});

test('what is no batch is told', async () => {
  const unknown = newId('batch', new Date());
  expect(await admin('batch', 'show', unknown)).toMatchObject({
    code: 1,
    printed: expect.stringContaining(`There is no batch ${unknown}`),
  });
  expect(await admin('batch', 'show', 'sms_1')).toMatchObject({
    code: 1,
    printed: expect.stringContaining('is not the id of a batch'),
  });
});

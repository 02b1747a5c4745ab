import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { insertSettlement } from '../../../shared/db/webhooks/webhooks.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const remove = (id: string, key: string) => api.request('DELETE', `/v2/webhooks/${id}`, { key });

test('a deleted webhook is gone', async () => {
  const own = await workspace();
  const { id } = await makeWebhook(own, newUrl());
  const read = (path: string) => api.request('GET', `/v2/webhooks${path}`, { key: own.key });
  expect(await remove(id, own.key)).toMatchObject({ status: 204, body: '' });
  for (const path of [`/${id}`, `/${id}/deliveries`]) expect((await read(path)).status).toBe(404);
  expect((await remove(id, own.key)).status).toBe(404);
  expect((await read('')).body.data).toEqual([]);
});

test('another workspace cannot delete it', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const { id } = await makeWebhook(own, newUrl());
  expect((await remove(id, other.key)).status).toBe(404);
  expect((await api.request('GET', `/v2/webhooks/${id}`, { key: own.key })).status).toBe(200);
  expect(await query('SELECT kind FROM webhook_settlements WHERE webhook_id = ?', [idToBytes(id)])).toEqual(
    [],
  );
});

test('what was still to be delivered, or to be sent again, is settled as skipped, and that of others goes on', async () => {
  const own = await workspace();
  const receiver = await startWebhookReceiver({ respond: answers.tooManyRequests('3600') });
  const { id } = await makeWebhook(own, receiver.url);
  const beside = await makeWebhook(own, `${receiver.url}/beside`);
  for (let count = 0; count < 5; count += 1) await acceptEmail(own);
  await relay.relayAll();
  await insertSettlement(own.workspaceId, { webhookId: id, kind: 'recover', since: now(), createdAt: now() });
  await remove(id, own.key);
  const [row, ...more] = await query(
    'SELECT kind, workspace_id FROM webhook_settlements WHERE webhook_id = ?',
    [idToBytes(id)],
  );
  expect(more).toEqual([]);
  expect(row).toMatchObject({ kind: 'skip', workspace_id: idToBytes(own.workspaceId) });
  const workers = await runWorkers();
  await waitFor('its deliveries to be skipped', async () =>
    (await deliveriesOf(id)).every(({ status, completedAt }) => status === 'skipped' && completedAt !== null),
  );
  // Workers that kept running would take the deliveries that the other tests make.
  await workers.stop();
  expect((await deliveriesOf(beside.id)).map(({ status }) => status)).toEqual(
    Array.from({ length: 5 }, () => 'pending'),
  );
});

// @slow: it starts, stops and breaks processes of the platform.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { startWebProxy } from '../../support/servers/clusters/haproxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const customers = 4;
const pauseMs = 20;

// Shows F4, F34
test('behind the HAProxy of the guide no request fails when a web process is replaced, and at most those in flight when one is killed', async () => {
  const [own, first, second] = await Promise.all([workspace(), startWeb(), startWeb()]);
  const [port, other] = [first, second].map(({ url }) => Number(new URL(url).port)) as [number, number];
  const proxy = await startWebProxy([port, other]);
  const api = clientOf(proxy.url);
  const isUp = async (name: string) => (await proxy.server(name)).state === 'UP';

  const accepted: string[] = [];
  let failed = 0;
  let isOver = false;
  const sending = Array.from({ length: customers }, async (_, customer) => {
    while (!isOver) {
      const reference = `${customer}-${accepted.length}`;
      const isAccepted = async () => {
        const answer = await api
          .request('POST', '/v2/email', {
            key: own.key,
            headers: { 'idempotency-key': reference },
            body: newEmail(own, { clientReference: reference }),
          })
          // HAProxy's own answers are not in the description of the API.
          .catch(() => null);
        if (answer?.status !== 201) failed += 1;
        return answer?.status === 201;
      };
      await waitFor(`${reference} is accepted`, isAccepted);
      accepted.push(reference);
      await sleep(pauseMs);
    }
  });
  onTestFinished(async () => {
    isOver = true;
    await Promise.allSettled(sending);
  });
  const someMore = (count = 12) => {
    const enough = accepted.length + count;
    return waitFor('more are accepted', () => accepted.length >= enough);
  };
  await someMore();
  for (const name of ['web1', 'web2']) expect((await proxy.server(name)).requests).toBeGreaterThan(0);

  // As the guide says for a deploy.
  await proxy.control('set server web/web1 state drain');
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  await someMore();
  await startApi({ port });
  await waitFor(
    'the new process is ready',
    async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok,
  );
  await proxy.control('set server web/web1 state ready');
  await waitFor('HAProxy leads to it', () => isUp('web1'));
  const before = (await proxy.server('web1')).requests;
  await someMore();
  expect((await proxy.server('web1')).requests).toBeGreaterThan(before);
  expect(failed).toBe(0);

  await second.kill();
  await waitFor('HAProxy leaves the dead process', async () => (await proxy.server('web2')).state === 'DOWN');
  expect(failed).toBeLessThanOrEqual(customers);
  const inFlight = failed;
  await someMore();
  expect(failed).toBe(inFlight);

  isOver = true;
  await Promise.all(sending);
  const rows = await query<{ reference: Buffer }[]>(
    'SELECT client_reference AS reference FROM emails WHERE workspace_id = ?',
    [idToBytes(own.workspaceId)],
  );
  expect(rows.map(({ reference }) => reference.toString()).toSorted()).toEqual(accepted.toSorted());
});

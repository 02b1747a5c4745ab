// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { query, transaction } from '../../../shared/db/client.ts';
import { findWorkspaceForUpdate } from '../../../shared/db/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Answer, type Client, clientOf } from '../../support/api/api-client.ts';
import { type Client as Survivor, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let survivor: Survivor;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  survivor = await startApi();
  own = await workspace();
});

const inFlight = 5;

// Shows F4
test('at SIGTERM the requests in flight are answered and told to close their connections, and no new one is taken', async () => {
  const web = await startWeb();
  const api = clientOf(web.url);
  const waits = await watchLockWaits();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  // Creating a webhook locks its workspace, so the request waits for this lock.
  const holder = transaction(async () => {
    await findWorkspaceForUpdate(own.workspaceId);
    lock();
    await over;
  });
  await locked;
  const requests = Array.from({ length: inFlight }, (_, index) =>
    api.request('POST', '/v2/webhooks', {
      key: own.key,
      body: { url: `https://example.com/${index}`, events: ['email.sent'] },
    }),
  );
  let stopped: Promise<unknown>;
  try {
    await waitFor('all wait for the lock', async () => (await waits.look()).length === inFlight);
    stopped = web.stop();
    await waitFor('no new connection is taken', () =>
      fetch(`${web.url}/health/live`).then(
        () => false,
        () => true,
      ),
    );
    expect(web.isRunning()).toBe(true);
  } finally {
    end();
    await Promise.all([holder, waits.close()]);
  }
  for (const { status, headers } of await Promise.all(requests))
    expect([status, headers['connection']]).toEqual([201, 'close']);
  expect(await stopped).toEqual({ code: 0, signal: null });
});

const customers = 10;
const acceptedBefore = 30;

type Sent = { reference: string; answer: Answer | null };

function post(api: Client, reference: string): Promise<Answer> {
  return api.request('POST', '/v2/email', {
    key: own.key,
    headers: { 'idempotency-key': reference },
    body: newEmail(own, { clientReference: reference }),
  });
}

async function storedReferences(): Promise<Set<string>> {
  const rows = await query<{ client_reference: Buffer }[]>(
    'SELECT client_reference FROM emails WHERE workspace_id = ?',
    [idToBytes(own.workspaceId)],
  );
  const references = rows.map((row) => row['client_reference'].toString());
  expect(new Set(references).size).toBe(references.length);
  return new Set(references);
}

// Shows F4
test('SIGTERM under load: whatever is done is answered, and what is not answered has not been done', async () => {
  const web = await startWeb();
  const sent: Sent[] = [];
  const load = Array.from({ length: customers }, async () => {
    // Each customer has a keep-alive connection of its own.
    const api = clientOf(web.url);
    for (let answer: Answer | null = null, isFirst = true; isFirst || answer; isFirst = false) {
      const reference = randomUUID();
      answer = await post(api, reference).catch(() => null);
      sent.push({ reference, answer });
    }
  });
  await waitFor('emails are accepted', () => sent.length >= acceptedBefore, { intervalMs: 1 });
  expect(await web.stop()).toEqual({ code: 0, signal: null });
  await Promise.all(load);

  const answered = sent.filter(({ answer }) => answer);
  expect(new Set(answered.map(({ answer }) => answer!.status))).toEqual(new Set([201]));
  expect(await storedReferences()).toEqual(new Set(answered.map(({ reference }) => reference)));
  for (const { reference, answer } of sent) {
    const again = await post(survivor, reference);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, answer ? 'true' : undefined]);
    if (answer) expect(again.body).toEqual(answer.body);
  }
  expect(await storedReferences()).toEqual(new Set(sent.map(({ reference }) => reference)));
});

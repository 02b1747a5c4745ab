import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, dueDelivery, makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type Answer, answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

/** Sets the deadline of a request, for tests in which an endpoint has to reach it. */
function hasSeconds(seconds: number): void {
  changeSettings({ WEBHOOK_TIMEOUT_SECONDS: seconds });
  onTestFinished(() => changeSettings({ WEBHOOK_TIMEOUT_SECONDS: 10 }));
}

/** Makes one attempt, which gets this answer; returns the receiver and the stored delivery. */
async function after(respond: Answer) {
  const receiver = await startWebhookReceiver({ respond });
  const { id, read } = await dueDelivery(own, receiver.url);
  await attempt(id);
  return { receiver, stored: await read() };
}

const failed = (error: string) => ({ status: 'pending', attempts: 1, error });

// Shows A44
test.each([300, 301, 302, 304, 307, 308])(
  'a redirect is a failure and is not followed: %i',
  async (status) => {
    const target = await startWebhookReceiver();
    const { stored } = await after({ status, headers: { location: target.url } });
    expect(stored).toMatchObject({ ...failed('http_status'), responseStatus: status });
    expect(target.requests).toEqual([]);
  },
);

test.each([400, 401, 404, 410, 500, 503])('%i is a failure', async (status) => {
  const { stored } = await after({ status });
  expect(stored).toMatchObject({ ...failed('http_status'), responseStatus: status });
});

test('an endpoint that does not answer in time has failed', async () => {
  hasSeconds(0.3);
  const { stored } = await after(answers.hang);
  expect(stored).toMatchObject({ ...failed('timeout'), responseStatus: null, responseBody: null });
  expect(stored.durationMs).toBeGreaterThanOrEqual(299);
});

test('an endpoint that breaks the connection, or is not there, has failed', async () => {
  const { stored } = await after(answers.reset);
  expect(stored).toMatchObject({ ...failed('connection'), responseStatus: null });
  const { id, read } = await dueDelivery(own, `http://127.0.0.1:${await freePort()}/`);
  await attempt(id);
  expect(await read()).toMatchObject({ ...failed('connection'), responseStatus: null });
});

test.each(['drippingBody', 'endlessBody', 'cutBody'] as const)(
  'the status line decides, whatever the body does: %s',
  async (fault) => {
    // A dripping body lasts until the deadline; the status must arrive before it, also on a busy machine.
    if (fault === 'drippingBody') hasSeconds(3);
    const { stored } = await after(answers[fault]);
    expect(stored).toMatchObject({ status: 'delivered', responseStatus: 200, error: null });
  },
);

// Shows A43
test('an address that became forbidden after the webhook was made is not reached', async () => {
  const receiver = await startWebhookReceiver();
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  for (const url of ['http://169.254.169.254/latest', 'http://10.1.2.3/', 'http://[::ffff:10.1.2.3]/']) {
    await query('UPDATE webhooks SET url = ? WHERE id = ?', [url, idToBytes(webhook.id)]);
    await query('UPDATE webhook_deliveries SET due_at = created_at WHERE id = ?', [idToBytes(id)]);
    await attempt(id);
    expect(await read()).toMatchObject({ status: 'pending', error: 'blocked_address', responseStatus: null });
  }
});

test('the answer’s body is kept as text, its first 1,024 bytes, with nothing lost that SQL or JSON treats specially', async () => {
  const special = 'Ünï 🙂 " \\ \\n \' \n\t %s ? :x $.a {"a":[1]} \u2028';
  const plain = await after({ body: special });
  expect(plain.stored.responseBody).toBe(special);
  const long = await after({ status: 500, body: 'é'.repeat(2000) });
  expect(long.stored.responseBody).toBe('é'.repeat(512));
  const cut = await after({ status: 500, body: `${'x'.repeat(1023)}🙂` });
  expect(cut.stored.responseBody).toBe('x'.repeat(1023));
  const binary = await after({ status: 500, body: Buffer.from([0x61, 0, 0xff, 0xfe, 0x62]) });
  expect(binary.stored.responseBody).toBe('a\ufffd\ufffdb');
  const empty = await after({ status: 204 });
  expect(empty.stored.responseBody).toBeNull();
});

test('the outcome of an attempt replaces that of the one before', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500, body: 'broken' } });
  const { id, read } = await dueDelivery(own, receiver.url);
  await attempt(id);
  expect(await read()).toMatchObject({ responseStatus: 500, responseBody: 'broken', error: 'http_status' });
  receiver.respondWith(answers.reset);
  await query('UPDATE webhook_deliveries SET due_at = created_at WHERE id = ?', [idToBytes(id)]);
  await attempt(id);
  expect(await read()).toMatchObject({ responseStatus: null, responseBody: null, error: 'connection' });
});

test('attempts that end together are each recorded with their own outcome', async () => {
  const receiver = await startWebhookReceiver({
    respond: ({ url }) => ({ status: Number(url.split('/')[1]), body: url }),
  });
  const mine = await workspace();
  const statuses = Array.from({ length: 60 }, (_, index) => 200 + (index % 4) * 100);
  const hooks: string[] = [];
  for (const [index, status] of statuses.entries())
    hooks.push((await makeWebhook(mine, `${receiver.url}/${status}/${index}`)).id);
  await acceptEmail(mine);
  await relay.relayAll();
  const read = () => Promise.all(hooks.map(async (id) => (await deliveriesOf(id))[0]!));
  await Promise.all((await read()).map(({ id }) => attempt(id)));
  for (const [index, delivery] of (await read()).entries())
    expect(delivery).toMatchObject({
      attempts: 1,
      responseStatus: statuses[index],
      responseBody: `/${statuses[index]}/${index}`,
      status: statuses[index] === 200 ? 'delivered' : 'pending',
    });
});

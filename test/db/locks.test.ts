import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query, transaction } from '../../shared/db/client.ts';
import { attempt as attemptEmail } from '../../shared/domain/email/delivery/delivery.ts';
import * as email from '../../shared/domain/email/email.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import { attempt as attemptDelivery } from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { NewEmail } from '../../shared/schemas/email/email.ts';
import { acceptEmail, callerOf } from '../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { withoutWaiting } from '../support/database/lock-wait.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';

// On a nearly empty table the optimizer tends to read all of it, and so to lock the rows of others.
useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});
beforeEach(async () => {
  for (const name of ['emails', 'email_bodies', 'events', 'webhook_deliveries', 'webhooks'])
    await query(`TRUNCATE TABLE ${name}`);
  await query("UPDATE counters SET value = 0 WHERE name LIKE 'events.%'");
});

/** Does the work while a request that accepts an email has written all its rows and not yet committed. */
async function besideOpenRequest(work: () => Promise<void>): Promise<void> {
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const prepared = await email.prepare(callerOf(own), NewEmail.parse(newEmail(own)));
  const request = transaction(async () => {
    await email.send(callerOf(own), prepared);
    write();
    await over;
  });
  await written;
  try {
    await work();
  } finally {
    end();
    await request;
  }
}

test.each([1, 2, 4, 30])('the relay of %i events does not wait for a request in flight', async (count) => {
  for (let made = 0; made < count; made += 1) await acceptEmail(own);
  await besideOpenRequest(async () => {
    await withoutWaiting(async () => expect(await relay.relayAll()).toBe(count));
  });
  expect(await relay.relayAll()).toBe(1);
});

test.each([1, 2, 4, 30])('%i emails go out without waiting for a request in flight', async (count) => {
  const emails: { id: string }[] = [];
  for (let made = 0; made < count; made += 1) emails.push(await acceptEmail(own));
  await besideOpenRequest(async () => {
    await withoutWaiting(async () => {
      const outcomes = await Promise.all(emails.map(({ id }) => attemptEmail(id)));
      expect(outcomes).toEqual(emails.map(() => 'done'));
    });
  });
});

test.each([1, 2, 4, 30])('%i deliveries are made without waiting for a relay in progress', async (count) => {
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url, ['email.queued']);
  for (let made = 0; made < count; made += 1) await acceptEmail(own);
  await relay.relayAll();
  const deliveries = await deliveriesOf(id);
  const { promise: inserted, resolve: insert } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  await acceptEmail(own);
  const open = transaction(async () => {
    await relay.relayAll();
    insert();
    await over;
  });
  await inserted;
  try {
    await withoutWaiting(async () => {
      const outcomes = await Promise.all(deliveries.map((delivery) => attemptDelivery(delivery.id)));
      expect(outcomes).toEqual(deliveries.map(() => 'done'));
    });
  } finally {
    end();
    await open;
  }
  expect(await deliveriesOf(id)).toHaveLength(count + 1);
});

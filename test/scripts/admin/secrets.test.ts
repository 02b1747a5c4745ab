// @slow: it starts a process for each command of the operator.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { signRequest } from '../../support/api/sign-request.ts';
import { hmacKey, newSecret } from '../../support/api/signed-key.ts';
import { startApi } from '../../support/api/start-api.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { isSignedBy, labelsOf } from '../../support/servers/verify-delivery.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const hourMs = 3_600_000;
const newKey = `new:${randomBytes(32).toString('hex')}`;
const both = `${newKey},${config.SECRET_KEY}`;

/** Runs `scripts/admin secrets` with these keys, which this process does not have. */
async function secrets(keys: string, ...args: string[]) {
  const command = startProcess('scripts/setup/admin/admin.ts', ['--json', 'secrets', ...args], {
    SECRET_KEY: keys,
  });
  const { code } = await command.exited;
  const lines = command.output().trim().split('\n');
  const table = lines.find((line) => line.startsWith('[{"place"'));
  return { code, places: table ? (JSON.parse(table) as any[]) : null, output: command.output() };
}

/** Returns all places of the database with a value sealed by this key, without the code's own list of such places. */
async function placesSealedWith(keyId: string): Promise<string[]> {
  const columns = await query<{ t: string; c: string }[]>(
    `SELECT table_name AS t, column_name AS c FROM information_schema.columns
     WHERE table_schema = DATABASE() AND data_type IN ('varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob')`,
  );
  const found: string[] = [];
  for (const { t, c } of columns) {
    const rows = await query(`SELECT 1 FROM \`${t}\` WHERE LEFT(\`${c}\`, ?) = ? LIMIT 1`, [
      keyId.length + 1,
      Buffer.from(`${keyId}:`),
    ]);
    if (rows.length > 0) found.push(`${t}.${c}`);
  }
  return found.toSorted();
}

const allPlaces = [
  'api_keys.previous_signing_secret',
  'api_keys.signing_secret',
  'email_domains.dkim_private_key',
  'idempotency_records.answer',
  'webhooks.previous_secret',
  'webhooks.secret',
];

test('after a rotation of SECRET_KEY nothing needs the old key, and all secrets are what they were', async () => {
  const receiver = await startWebhookReceiver();
  const own = await workspace();
  await Promise.all(Array.from({ length: 12 }, () => workspace()));
  const until = new Date(Date.now() + 30 * 24 * hourMs);
  const { key, signer } = await hmacKey(own.workspaceId, { previous: { secret: newSecret(), until } });
  const webhook = await makeWebhook(own, receiver.url);
  const rotated = await transaction(() => webhooks.rotateSecret(callerOf(own), webhook.id));
  const api = await startApi();
  const headers = { 'idempotency-key': 'order-1' };
  const first = await api.request('POST', '/v2/email', { key: own.key, headers, body: newEmail(own) });
  expect(first.status).toBe(201);
  await api.close();
  expect(await placesSealedWith('test')).toEqual(allPlaces);

  // A rotation that is killed has done a part, and the next one does the rest.
  const killed = startProcess('scripts/setup/admin/admin.ts', ['secrets', 'rotate', '--batch', '1'], {
    SECRET_KEY: both,
  });
  // One statement, as the many of placesSealedWith would take the processor time of the rotation.
  const begun = allPlaces.map((place) => {
    const [table, column] = place.split('.');
    return `(SELECT 1 FROM ${table} WHERE LEFT(${column}, 4) = 'new:' LIMIT 1)`;
  });
  await waitFor('a part is done', async () => (await query(begun.join(' UNION ALL '))).length > 0, {
    intervalMs: 5,
  });
  await killed.kill();
  const { code, places } = await secrets(both, 'rotate', '--batch', '3');
  expect([code, places!.map(({ left }) => left)]).toEqual([0, places!.map(() => 0)]);
  expect(await placesSealedWith('test')).toEqual([]);
  expect(await placesSealedWith('new')).toEqual(allPlaces);
  // From here on the old key is not configured.
  const sink = await startSmtpSink();
  const settings = { SECRET_KEY: newKey, SMTP_URL: sink.url };
  const jobs = ['send-email', 'relay-events', 'deliver-webhook', 'settle-webhook', 'sweep'];
  const [web] = await Promise.all([startWeb(settings), startWorkerProcess(jobs, settings)]);
  const later = clientOf(web.url);
  const replayed = await later.request('POST', '/v2/email', { key: own.key, headers, body: newEmail(own) });
  expect([replayed.status, replayed.headers['idempotent-replayed'], replayed.body]).toEqual([
    201,
    'true',
    first.body,
  ]);
  const address = `${web.url}/v2/webhooks`;
  const signedHeaders = signRequest({ method: 'GET', url: address }, signer);
  expect((await later.request('GET', '/v2/webhooks', { key, headers: signedHeaders })).status).toBe(200);
  const [message] = await waitFor('the email is out', () => sink.messages.length > 0 && sink.messages);
  expect(message!.raw.toString()).toMatch(/^DKIM-Signature: /im);
  const [delivery] = await waitFor(
    'the delivery is there',
    () => receiver.requests.length > 0 && receiver.requests,
  );
  const labels = Object.keys(labelsOf(delivery!));
  expect(labels).toHaveLength(2);
  const isSigned = await Promise.all(
    [rotated.secret, webhook.secret].flatMap((secret) =>
      labels.map((label) => isSignedBy(delivery!, label, secret!)),
    ),
  );
  expect(isSigned.filter(Boolean)).toHaveLength(2);
});

test('what no key opens is told, and left as it is', async () => {
  await workspace();
  const stranger = `other:${randomBytes(32).toString('hex')}`;
  const status = await secrets(stranger, 'status');
  expect(status.code).toBe(0);
  const { code, places, output } = await secrets(stranger, 'rotate');
  expect(status.places).toEqual(places);
  expect(code).toBe(1);
  const domains = places!.find(({ place }) => place === 'email_domains.dkim_private_key');
  expect([domains.resealed, domains.left > 0]).toEqual([0, true]);
  expect(output).toMatch(/SECRET_KEY lacks their keys \((test|new|, )+\)/);
  expect(await placesSealedWith('other')).toEqual([]);
});

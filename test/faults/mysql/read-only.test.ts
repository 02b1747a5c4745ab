import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { ordinaryUser, startOwnMysql } from '../../support/servers/own-servers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let mysql: Awaited<ReturnType<typeof startOwnMysql>>;
beforeAll(async () => {
  mysql = await startOwnMysql();
  changeSettings({ MYSQL_URL: await ordinaryUser(mysql) });
});
useDatabase();

let api: Client;
let sink: SmtpSink;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await workspace();
});

const recipients = () => sink.messages.flatMap(({ envelope }) => envelope.to).toSorted();

// The cleanup at the end of the file drops the database, so MySQL must be writable again.
afterEach(() => mysql.query('SET GLOBAL read_only = 0'));

// Shows F25
test('while MySQL is read-only nothing is accepted or sent, what is there can be read, and then all goes on', async () => {
  const waiting = await acceptEmail(own, { recipient: 'waiting@example.com' });
  // No job was made for this email, so the sweep finds it once it is overdue.
  await advanceClock(3_000);
  const idempotencyKey = randomUUID();
  const post = () =>
    api.request('POST', '/v2/email', {
      key: own.key,
      headers: { 'idempotency-key': idempotencyKey },
      body: newEmail(own, { recipient: 'later@example.com' }),
    });
  await mysql.query('SET GLOBAL read_only = 1');
  for (let count = 0; count < 3; count += 1) {
    const refused = await post();
    expect(refused.status).toBe(503);
    expect(refused.body.type).toBe(`${api.url}/problems/service_unavailable`);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.stringify(refused.body)).not.toMatch(/read.only|MariaDB|MySQL|INSERT/i);
  }
  const workers = await runWorkers(['send-email', 'sweep', 'relay-events']);
  const read = await api.request('GET', `/v2/email/${waiting.id}`, { key: own.key });
  expect([read.status, read.body.status]).toEqual([200, 'queued']);
  expect(await query('SELECT 1 FROM emails')).toHaveLength(1);
  expect(recipients()).toEqual([]);

  await mysql.query('SET GLOBAL read_only = 0');
  const accepted = await post();
  expect([accepted.status, accepted.headers['idempotent-replayed']]).toEqual([201, undefined]);
  await waitFor('both go out', () => recipients().length === 2);
  expect(recipients()).toEqual(['later@example.com', 'waiting@example.com']);
  await workers.stop();
});

// @slow: it starts a MySQL of its own and fills its disk.
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { Answer } from '../../support/api/api-client.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startOwnMysql } from '../../support/servers/own-servers.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const attachmentBytes = 6_000_000;

let mysql: Awaited<ReturnType<typeof startOwnMysql>>;
beforeAll(async () => {
  // Room for the tables and for three emails.
  mysql = await startOwnMysql({ diskBytes: 30 * 1024 * 1024 });
  changeSettings({ MYSQL_URL: mysql.url });
});
useDatabase();

// Shows F25, F35
test('when the disk of MySQL fills up what has room is taken whole, the rest is a 503 with nothing kept, until there is room', async () => {
  const [own, sink, api] = [await workspace(), await startSmtpSink(), await startApi()];
  changeSettings({ SMTP_URL: sink.url });
  const content = randomBytes(attachmentBytes).toString('base64');
  const attachments = [{ filename: 'large.bin', contentType: 'application/octet-stream', content }];
  const post = (reference: string) =>
    api.request('POST', '/v2/email', {
      key: own.key,
      headers: { 'idempotency-key': reference },
      body: newEmail(own, { attachments, clientReference: reference }),
    });
  const accepted: Answer[] = [];
  let refused: Answer;
  let reference: string;
  for (;;) {
    reference = randomUUID();
    const answer = await post(reference);
    if (answer.status !== 201) {
      refused = answer;
      break;
    }
    accepted.push(answer);
  }
  expect(accepted.length).toBeGreaterThan(0);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.stringify(refused.body)).not.toMatch(/full|table|INSERT/i);
  const stored = async () =>
    (
      await query<{ id: Buffer; bytes: string | null }[]>(
        `SELECT e.id, (SELECT SUM(LENGTH(bytes)) FROM email_attachment_chunks c WHERE c.email_id = e.id) AS bytes
         FROM emails e ORDER BY e.id`,
      )
    ).map((row) => [row['id'].toString('hex'), Number(row['bytes'])]);
  const whole = ({ body }: Answer) => [idToBytes(body.id).toString('hex'), attachmentBytes];

  // InnoDB aborts if no extent at all is free when it has to roll back. So the rows are read on the larger disk: they
  // have to be the same, whether MySQL refused the email or ended.
  await mysql.enlargeDisk();
  expect(await waitFor('MySQL answers', stored)).toEqual(accepted.map(whole));
  const later = await waitFor('it is accepted', async () => {
    const answer = await post(reference);
    return answer.status === 201 && answer;
  });
  expect(later.headers['idempotent-replayed']).toBeUndefined();
  expect(await stored()).toEqual([...accepted, later].map(whole));
  await runWorkers(['send-email', 'sweep']);
  await waitFor('all go out', () => sink.messages.length === accepted.length + 1);
  for (const { raw } of sink.messages) expect(raw.length).toBeGreaterThan(attachmentBytes);
});

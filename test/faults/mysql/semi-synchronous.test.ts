// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { closeDatabase } from '../../../shared/db/client.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { optionsOf, replicate } from '../../support/database/replication.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type OwnMysql, ordinaryUser, startOwnMysql } from '../../support/servers/own-servers.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let [primary, replica]: OwnMysql[] = [];
let pair: Awaited<ReturnType<typeof replicate>>;
/** Between the primary and the replica. */
let replication: TcpProxy;
/** For the preparation of the database, and its end. */
let line: TcpProxy;
beforeAll(async () => {
  [primary, replica] = await Promise.all([1, 2].map((id) => startOwnMysql({ options: optionsOf(id) })));
  replication = await startTcpProxy(primary!.url);
  pair = await replicate(primary!, replica!, { isSemiSynchronous: true, through: replication });
  line = await startTcpProxy(await ordinaryUser(primary!));
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

const each = 8;
const recipientsOf = (name: string) =>
  Array.from({ length: each }, (_, index) => `${name}-${index}@example.com`);

// Shows F26
test('the primary is lost amid emails, and its semi-synchronous replica takes over: nothing that was accepted is lost', async () => {
  const [own, sink, api] = await Promise.all([workspace(), startSmtpSink(), startApi()]);
  const hosts = [primary!, replica!].map(({ url }) => new URL(url).host).join(',');
  changeSettings({ SMTP_URL: sink.url, MYSQL_URL: line.url.replace(new URL(line.url).host, hosts) });
  await closeDatabase();
  const accepted: string[] = [];
  const send = async (recipient: string) => {
    await waitFor(`${recipient} is accepted`, async () => {
      const { status } = await api.request('POST', '/v2/email', {
        key: own.key,
        headers: { 'idempotency-key': recipient },
        body: newEmail(own, { recipient }),
      });
      expect([201, 409, 503]).toContain(status);
      return status === 201;
    });
    accepted.push(recipient);
  };
  const database = new URL(line.url).pathname.slice(1);
  const countOn = async ({ query }: OwnMysql) =>
    (await query(`SELECT COUNT(*) AS emails FROM \`${database}\`.emails`))[0].emails;

  await Promise.all(recipientsOf('applied').map(send));
  await waitFor('the replica has applied them', async () => (await countOn(replica!)) === each);
  await pair.stopApplying();
  await Promise.all(recipientsOf('received').map(send));
  expect(await countOn(replica!)).toBe(each);
  // The replica receives no more, so the primary may acknowledge no more either.
  replication.freeze();
  const late = recipientsOf('late').map(send);
  await waitFor('commits wait for the replica', async () => (await pair.commitsWaiting()) > 0);
  expect(accepted).toHaveLength(2 * each);
  await primary!.kill();
  await pair.failOver();
  expect(await countOn(replica!)).toBe(2 * each);
  line.redirect(replica!.url);
  await Promise.all(late);

  const workers = await runWorkers(['send-email', 'sweep']);
  const copies = () =>
    accepted.map(
      (recipient) => sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length,
    );
  await waitFor('all are sent', () => copies().every((count) => count > 0));
  expect(copies()).toEqual(accepted.map(() => 1));
  expect(accepted).toHaveLength(3 * each);
  await workers.stop();
});

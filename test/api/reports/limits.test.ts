// @slow: it starts processes or servers of its own.
import mysql from 'mysql2/promise';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { reportSettings } from '../../../shared/config/reports.ts';
import { isReachable } from '../../../shared/coordination/rate-limits.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor, waitUnlessAnswered } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  // When Redis is slow, the reports of the previous test may have left a lease, so each test has a new workspace.
  own = await workspace();
});

const ask = (report: string) => api.request('GET', `/v2/reports/${report}`, { key: own.key });

/** Locks the tables, so that reports wait until they are released. */
async function holdCounts() {
  const holder = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => holder.destroy());
  await holder.query('LOCK TABLES report_counts WRITE, report_latencies WRITE');
  const waiting = async () => {
    const [rows] = await holder.query<mysql.RowDataPacket[]>(
      `SELECT 1 FROM ${processlist} WHERE db = DATABASE() AND info LIKE '%FROM report\\_%' AND id <> CONNECTION_ID()`,
    );
    return rows.length;
  };
  return { waiting, release: () => holder.query('UNLOCK TABLES') };
}

// Shows A72
test('a workspace has two reports in progress at a time, its spend among them; another waits, and is refused in the end', async () => {
  changeSettings({ REPORT_SECONDS: 60 });
  const { waiting, release } = await holdCounts();
  const first = [ask('client-tags'), api.request('GET', '/v2/workspace/spend', { key: own.key })];
  // A report of tags runs one statement for each channel.
  await waitUnlessAnswered(
    first,
    waitFor('both reports wait for the table', async () => (await waiting()) === 3),
  );
  const third = await ask('countries');
  expect([third.status, third.headers['retry-after']]).toEqual([429, '1']);
  expect(third.body.type).toBe(`${api.url}/problems/rate_limited`);
  // The reports of other workspaces have room.
  const others = api.request('GET', '/v2/reports/sends', { key: (await workspace()).key });
  await waitFor('the report of another workspace waits for the table', async () => (await waiting()) === 4);
  await release();
  for (const { status } of await Promise.all([...first, others])) expect(status).toBe(200);
});

// Shows A72
test('the reports that a workspace has in progress are counted over all processes', async () => {
  const other = await startWeb({ REPORT_SECONDS: '60' });
  changeSettings({ REPORT_SECONDS: 1 });
  await waitFor('Redis can be asked from here', isReachable);
  const { waiting, release } = await holdCounts();
  const { key } = own;
  const first = ['countries', 'latency'].map((report) =>
    clientOf(other.url).request('GET', `/v2/reports/${report}`, { key }),
  );
  // A report of countries runs one statement for the counts and one for the errors.
  await waitUnlessAnswered(
    first,
    waitFor('both reports of the other process wait for the table', async () => (await waiting()) === 3),
  );
  // On a busy machine Redis may answer slowly. Then the third report gets a lease too, and waits for the table.
  await waitFor('a third report is refused here', async () => {
    const third = await ask('countries');
    expect([third.status, third.headers['retry-after']]).toEqual([429, '1']);
    return true;
  });
  await release();
  changeSettings({ REPORT_SECONDS: 60 });
  for (const { status } of await Promise.all(first)) expect(status).toBe(200);
  expect((await ask('countries')).status).toBe(200);
});

// Shows A72
test('a report that takes too long is ended by the server after five seconds, or as set, and is told so', async () => {
  expect(reportSettings.REPORT_SECONDS.parse(undefined)).toBe(5);
  changeSettings({ REPORT_SECONDS: 0.3 });
  const reports = ['sends', 'client-tags', 'countries', 'latency', 'email-deliverability'];
  const { waiting, release } = await holdCounts();
  for (const report of reports) {
    const { status, headers, body } = await ask(report);
    expect([report, status, headers['retry-after'], body.detail]).toEqual([
      report,
      503,
      '5',
      'The search in the database took too long. Try a narrower filter, or send the request again later.',
    ]);
    // The statements end although the tables are still locked.
    await waitFor('no statement of it is left', async () => (await waiting()) === 0);
  }
  await release();
  changeSettings({ REPORT_SECONDS: 60 });
  for (const report of reports) expect((await ask(report)).status).toBe(200);
});

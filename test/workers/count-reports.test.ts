import { expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { runAll } from '../../shared/db/client/migrate.ts';
import { database, query } from '../../shared/db/client.ts';
import { reportBackfill } from '../../shared/db/migrations/0039_report_backfill.ts';
import * as emailDomains from '../../shared/domain/email/domains/domains.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import * as reports from '../../shared/domain/reports/reports.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { enqueueRepeating } from '../../shared/queue/queue.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { workspace } from '../support/data/factory.ts';
import { emailAt, textAt } from '../support/data/reported-messages.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const accepted = async (own: { workspaceId: string }) => {
  const { data } = await reports.sends(own, { timeZone: 'UTC', interval: 'month' });
  return data.reduce((sum, row) => sum + row.accepted, 0);
};

/** Returns how many accepted emails each sending domain has. */
const senders = async (own: { workspaceId: string }) => {
  const { data } = await reports.emailDeliverability(own, { timeZone: 'UTC' });
  const rows = data.filter(({ by }) => by === 'sendingDomain');
  return Object.fromEntries(rows.map(({ domain, accepted }) => [domain, accepted]));
};

test('a run counts what has come since the one before, and nothing twice', async () => {
  const own = await workspace();
  await acceptEmail(own);
  await acceptEmail(own);
  await relay.relayAll();
  const { stop } = await runWorkers(['count-reports']);
  await enqueueRepeating(countReports, 1);
  await waitFor('the emails are counted', async () => (await accepted(own)) === 2);
  await acceptEmail(own);
  await relay.relayAll();
  await waitFor('the next one is counted', async () => {
    await enqueueRepeating(countReports, 1);
    return (await accepted(own)) === 3;
  });
  expect(await reports.countEvents()).toBe(0);
  await stop();
});

test('events that cannot be counted do not hold up the older messages', async () => {
  await query("UPDATE counters SET value = 1 WHERE name = 'reports.backfill'");
  const own = await workspace();
  await acceptEmail(own);
  await relay.relayAll();
  await query('RENAME TABLE report_counts TO report_counts_away');
  const { stop } = await runWorkers(['count-reports']);
  await enqueueRepeating(countReports, 1);
  try {
    await waitFor('the older messages are counted', async () => {
      const [row] = await query("SELECT value FROM counters WHERE name = 'reports.backfill'");
      return Number(row!['value']) === 0;
    });
  } finally {
    await query('RENAME TABLE report_counts_away TO report_counts');
    await stop();
  }
  await reports.countEvents();
  expect(await accepted(own)).toBe(1);
});

test('two that count at once count everything once', async () => {
  const own = await workspace();
  for (let index = 0; index < 20; index += 1) await acceptEmail(own, { clientTag: `tag ${index % 3}` });
  await relay.relayAll();
  await Promise.all(Array.from({ length: 4 }, () => reports.countEvents()));
  expect(await accepted(own)).toBe(20);
});

test('a sender whose domain is long as it was typed holds up the figures of nobody', async () => {
  const [own, other] = [await workspace(), await workspace()];
  // In punycode the domain is short enough for an email; as it was typed it has 444 bytes.
  const domain = `${Array.from({ length: 3 }, () => '例'.repeat(48)).join('.')}.example`;
  const { name } = await emailDomains.addVerified(own.workspaceId, domain);
  await acceptEmail(own, { sender: `a@${domain}` });
  await acceptEmail(other);
  await relay.relayAll();
  const { stop } = await runWorkers(['count-reports']);
  await enqueueRepeating(countReports, 1);
  await waitFor('the email of another workspace is counted', async () => (await accepted(other)) === 1);
  expect(await senders(own)).toEqual({ [name]: 1 });
  await stop();
});

test('all spellings of a domain count together, also after a rebuild', async () => {
  const own = await workspace();
  await emailDomains.addVerified(own.workspaceId, 'bücher.example');
  const spellings = ['bücher.example', 'BÜCHER.example', 'ｂücher.example', 'xn--BCHER-kva.example'];
  for (const spelling of spellings) await acceptEmail(own, { sender: `Zoë <a@${spelling}>` });
  await relay.relayAll();
  await reports.countEvents();
  const all = { 'xn--bcher-kva.example': spellings.length };
  expect(await senders(own)).toEqual(all);
  await query('DELETE FROM report_counts');
  await reports.rebuild(
    own.workspaceId,
    new Date(now().getTime() - 3_600_000),
    new Date(now().getTime() + 3_600_000),
  );
  expect(await senders(own)).toEqual(all);
});

test('texts that no email may have are counted as others, and an event that shows no email is passed over', async () => {
  const [own, last] = [await workspace(), await workspace()];
  const long = 'é'.repeat(250);
  await acceptEmail(own, {}, { sender: `a@${long}` });
  const changes = [
    ['sender', `a@${'b'.repeat(300)}`],
    ['recipient', `a@${long}`],
    ['clientTag', long],
    ['kind', long],
    ['createdAt', 'yesterday'],
  ] as const;
  for (const [field, text] of changes) {
    const { id } = await acceptEmail(own);
    // An erased email is counted from its event.
    await query('DELETE FROM emails WHERE id = ?', [idToBytes(id)]);
    await query('UPDATE events SET data = JSON_SET(data, ?, ?) WHERE record_id = ?', [
      `$.${field}`,
      text,
      idToBytes(id),
    ]);
  }
  await acceptEmail(last);
  await relay.relayAll();
  await reports.countEvents();
  expect([await accepted(own), await accepted(last)]).toEqual([4, 1]);
  expect(await senders(own)).toEqual({ [own.domain]: 2, '(other)': 2 });
  const { data } = await reports.clientTags(own, { timeZone: 'UTC' });
  expect(data.map(({ clientTag, accepted }) => [clientTag, accepted])).toEqual([
    [null, 3],
    ['(other)', 1],
  ]);
});

test('events that have gone uncounted are passed over, and a rebuild counts their messages', async () => {
  const own = await workspace();
  await acceptEmail(own);
  await relay.relayAll();
  await query("UPDATE counters SET value = (SELECT MAX(position) FROM events) WHERE name = 'events.purged'");
  expect(await reports.countEvents()).toBe(0);
  expect(await accepted(own)).toBe(0);
  await reports.rebuild(
    own.workspaceId,
    new Date(now().getTime() - 3_600_000),
    new Date(now().getTime() + 3_600_000),
  );
  expect(await accepted(own)).toBe(1);
});

test('messages that are older than the reports are counted after the first deploy, hour by hour, by whatever process', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const hoursAgo = (hours: number) => new Date(now().getTime() - hours * 3_600_000);
  for (const hours of [0, 30, 24 * 40]) {
    await emailAt(own, hoursAgo(hours), { clientTag: 'old' });
    await textAt(other, hoursAgo(hours), {});
  }
  await relay.relayAll();
  // The previous version left the database like this: older events are gone, and nothing has been counted.
  await query("UPDATE counters SET value = (SELECT MAX(position) FROM events) WHERE name = 'events.purged'");
  await runAll(database(), [...reportBackfill.down, ...reportBackfill.up]);
  const range = { from: { time: hoursAgo(24 * 80) }, timeZone: 'UTC' };
  const figures = async () =>
    Promise.all(
      [own, other].map(async (one) => {
        const months = (await reports.sends(one, { ...range, interval: 'month' })).data;
        const hours = (await reports.clientTags(one, range)).data;
        return [months, hours].map((rows) => rows.reduce((sum, { accepted }) => sum + accepted, 0));
      }),
    );
  expect(await figures()).toEqual([
    [0, 0],
    [0, 0],
  ]);
  await reports.countEvents();
  await Promise.all([reports.backfill(1), reports.backfill(1)]);
  const { stop } = await runWorkers(['count-reports']);
  await waitFor('all hours are counted', async () => {
    await enqueueRepeating(countReports, 1);
    const [row] = await query("SELECT value FROM counters WHERE name = 'reports.backfill'");
    return Number(row!['value']) === 0;
  });
  const counted = await figures();
  expect(counted).toEqual([
    [3, 3],
    [3, 3],
  ]);
  // A run that is still in progress would count an hour anew while its messages go.
  await stop();
  // A database that had reports from its start has nothing to count afterwards.
  await query('DELETE FROM emails');
  await query('DELETE FROM sms_messages');
  await runAll(database(), [...reportBackfill.down, ...reportBackfill.up]);
  const [row] = await query("SELECT value FROM counters WHERE name = 'reports.backfill'");
  expect(Number(row!['value'])).toBe(0);
  expect(await figures()).toEqual(counted);
});

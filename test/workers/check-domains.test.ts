import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { query } from '../../shared/db/client.ts';
import * as db from '../../shared/db/email/domains.ts';
import * as emails from '../../shared/db/email/emails.ts';
import { attempt } from '../../shared/domain/email/delivery/delivery.ts';
import * as emailDomains from '../../shared/domain/email/domains/domains.ts';
import * as workspaces from '../../shared/domain/workspace/workspaces.ts';
import { idFromBytes, idToBytes } from '../../shared/formats/ids.ts';
import { checkDomains } from '../../shared/jobs/check-domains.ts';
import { enqueueAll, queueOf } from '../../shared/queue/queue.ts';
import { acceptEmail, callerOf } from '../support/data/accepted-email.ts';
import { workspace } from '../support/data/factory.ts';
import { copyRow } from '../support/database/copied-rows.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { advanceClockTo } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { startZone } from '../support/time/zone.ts';

useDatabase();

let zone: Awaited<ReturnType<typeof startZone>>;
beforeAll(async () => {
  zone = await startZone();
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url, SYSTEM_SENDER: 'Platform <hello@platform.example>' });
});
beforeEach(async () => {
  zone.answerAll(null);
  await query('UPDATE email_domains SET check_due_at = NULL');
});

const hourMs = 3_600_000;
const later = (time: Date, byMs: number) => new Date(time.getTime() + byMs);

/** Makes a workspace with one domain, whose DKIM record has been seen. */
async function verifiedDomain() {
  const own = await workspace();
  const alertEmail = `${randomBytes(6).toString('hex')}@example.com`;
  await workspaces.change(own.workspaceId, { alertEmail });
  const caller = callerOf(own);
  const request = { name: `${randomBytes(6).toString('hex')}.example` };
  const domain = await emailDomains.add(caller, await emailDomains.makeKey(caller, request));
  zone.publish(domain, 'dkim');
  await emailDomains.check(own.workspaceId, domain.id);
  const read = async () => (await db.findEmailDomain(own.workspaceId, domain.id))!;
  return {
    own,
    domain,
    read,
    status: async () => (await read()).status,
    sender: `hello@${domain.name}`,
    mails: async () => {
      const { records } = await emails.listEmails(
        workspaces.systemWorkspaceId,
        { recipientKey: alertEmail },
        { limit: 10, before: null },
      );
      return records.map(({ subject }) => subject).toReversed();
    },
  };
}

/** Checks all domains that are due, as workers with their jobs would; returns how many were checked. */
async function checkDue(): Promise<number> {
  const due = await query<{ id: Buffer }[]>('SELECT id FROM email_domains WHERE check_due_at <= ?', [now()]);
  const turns = due.map(({ id }) => emailDomains.checkDue(idFromBytes('domain', id)));
  const ends = await Promise.allSettled(turns);
  return ends.filter((end) => end.status === 'fulfilled' && end.value === 'done').length;
}

/** Moves the clock to the time at which the domain is due, and checks the domains that are due then. */
async function checkAtDue(read: () => Promise<db.EmailDomainRecord>): Promise<void> {
  await advanceClockTo((await read()).checkDueAt!);
  expect(await checkDue()).toBeGreaterThan(0);
}

test('a record that goes away is warned of, stops the domain after 24 hours, and starts it again', async () => {
  const { own, domain, read, status, sender, mails } = await verifiedDomain();
  expect(await checkDue()).toBe(0);
  zone.withdraw(domain, 'dkim');
  await checkAtDue(read);
  expect(await status()).toBe('warning');
  const since = (await read()).warningSince!;
  const inGrace = await acceptEmail(own, { sender });
  expect(await attempt(inGrace.id)).toBe('done');
  expect((await inGrace.read()).status).toBe('sent');

  await checkAtDue(read);
  expect(await status()).toBe('warning');
  const queued = await acceptEmail(own, { sender });
  await advanceClockTo(later(since, 24 * hourMs));
  await checkDue();
  expect(await status()).toBe('failed');
  await expect(acceptEmail(own, { sender })).rejects.toThrow(/must be of a verified sending domain/);
  expect(await attempt(queued.id)).toBe('done');
  expect(await queued.read()).toMatchObject({
    status: 'failed',
    reason: { category: 'rejected', code: 'domain_not_verified' },
  });
  expect(await mails()).toEqual([
    `The DKIM record of ${domain.name} is gone`,
    `${domain.name} can no longer send`,
  ]);

  zone.publish(domain, 'dkim');
  await checkAtDue(read);
  expect(await status()).toBe('verified');
  expect(await attempt((await acceptEmail(own, { sender })).id)).toBe('done');
  expect(await mails()).toHaveLength(2);
});

test('name servers that fail for days stop nobody', async () => {
  const { own, read, status, sender, mails } = await verifiedDomain();
  zone.answerAll('failure');
  for (let round = 0; round < 3; round += 1) {
    await checkAtDue(read);
    await advanceClockTo(later(now(), 24 * hourMs));
  }
  expect(await status()).toBe('verified');
  expect((await read()).checks.dkim?.error).toMatch(/name servers/);
  await acceptEmail(own, { sender });
  expect(await mails()).toEqual([]);
});

test('many processes at once look at a domain once, and warn once', async () => {
  const all = [await verifiedDomain(), await verifiedDomain(), await verifiedDomain()];
  for (const { domain } of all) zone.withdraw(domain, 'dkim');
  await advanceClockTo(later(now(), 25 * hourMs));
  const before = zone.questions.length;
  await Promise.all(Array.from({ length: 8 }, () => checkDue()));
  const asked = zone.questions.slice(before).filter(({ name }) => name.includes('_domainkey'));
  expect(asked.map(({ name }) => name).toSorted()).toEqual(
    all.map(({ domain }) => domain.records[0]!.name).toSorted(),
  );
  for (const each of all) {
    expect(await each.status()).toBe('warning');
    expect(await each.mails()).toHaveLength(1);
  }
});

test('what a dead process had claimed is looked at by another', async () => {
  const { domain, read, status } = await verifiedDomain();
  zone.withdraw(domain, 'dkim');
  const dueAt = (await read()).checkDueAt!;
  await advanceClockTo(dueAt);
  // A process that dies during a check leaves the row like this.
  const leaseEnd = later(now(), 60_000);
  await query('UPDATE email_domains SET check_due_at = ? WHERE name = ?', [
    leaseEnd,
    Buffer.from(domain.name),
  ]);
  expect(await checkDue()).toBe(0);
  await advanceClockTo(leaseEnd);
  expect(await checkDue()).toBe(1);
  expect(await status()).toBe('warning');
});

test('a domain that is removed while it is looked at stays removed', async () => {
  const { own, domain, read } = await verifiedDomain();
  zone.set(domain.records[0]!.name, 'silent');
  await advanceClockTo((await read()).checkDueAt!);
  const before = zone.questions.length;
  const looking = checkDue();
  await waitFor('a question', () =>
    zone.questions.slice(before).some(({ name }) => name.endsWith(domain.name)),
  );
  await emailDomains.removeOf(own.workspaceId, domain.id);
  expect(await looking).toBe(1);
  expect(await db.findEmailDomain(own.workspaceId, domain.id)).toBeNull();
});

test('forty domains whose name servers never answer hold up nobody for long', async () => {
  const { domain, read, status } = await verifiedDomain();
  await advanceClockTo((await read()).checkDueAt!);
  await copyRow('email_domains', idToBytes(domain.id), 40, {
    id: 'UNHEX(LEFT(SHA2(RAND(), 256), 32))',
    name: "CONCAT(n, '.', one.name)",
    check_due_at: 'one.check_due_at - INTERVAL 1 HOUR',
  });
  const setAll = (answer: 'silent' | 'failure') => {
    for (let seq = 1; seq <= 40; seq += 1)
      for (const { name } of domain.records)
        zone.set(name.replace(domain.name, `${seq}.${domain.name}`), answer);
  };
  setAll('silent');
  zone.withdraw(domain, 'dkim');
  const before = zone.questions.length;
  const looking = checkDue();
  const isOfSeq = new RegExp(`(\\d+)\\.${domain.name}$`);
  const asked = () =>
    new Set(zone.questions.slice(before).flatMap(({ name }) => isOfSeq.exec(name)?.[1] ?? []));
  // Each check takes three seconds, so 20 of them one after the other would take a minute.
  await waitFor('20 are looked at', () => asked().size >= 20);
  setAll('failure');
  expect(await looking).toBe(41);
  expect(await status()).toBe('warning');
});

test('a domain that cannot be written down keeps nobody from looking at the others', async () => {
  const [broken, other] = [await verifiedDomain(), await verifiedDomain()];
  for (const { domain } of [broken, other]) zone.withdraw(domain, 'dkim');
  await advanceClockTo((await other.read()).checkDueAt!);
  await query(`ALTER TABLE email_domains ADD CONSTRAINT broken CHECK (name <> ? OR status <> 'warning')`, [
    Buffer.from(broken.domain.name),
  ]);
  await checkDue();
  expect([await broken.status(), await other.status()]).toEqual(['verified', 'warning']);
  await query('ALTER TABLE email_domains DROP CONSTRAINT broken');
  // The domain is checked again once the lease has ended.
  await checkAtDue(broken.read);
  expect(await broken.status()).toBe('warning');
});

test('the workers look at what is due by themselves', async () => {
  const { read, status, domain } = await verifiedDomain();
  zone.withdraw(domain, 'dkim');
  await advanceClockTo((await read()).checkDueAt!);
  // An older version makes such a job, one for all domains that are due.
  await enqueueAll(checkDomains, 'default', [{ payload: {}, id: 'older', at: null, requestId: null }]);
  await runWorkers(['check-domains', 'sweep']);
  await waitFor('the warning', async () => (await status()) === 'warning');
  await waitFor('the queue is empty', async () => (await queueOf('check-domains').count()) === 0);
});

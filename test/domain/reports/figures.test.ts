import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import type { EmailRecord } from '../../../shared/db/email/emails.ts';
import type { SmsRecord } from '../../../shared/db/sms/messages.ts';
import { nextStatuses as emailNext } from '../../../shared/domain/email/record.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import { nextStatuses as smsNext } from '../../../shared/domain/sms/record.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { moneyText } from '../../../shared/formats/money.ts';
import { workspace } from '../../support/data/factory.ts';
import {
  advanceEmail,
  advanceText,
  complainOf,
  countAll,
  emailAt,
  openEmail,
  textAt,
} from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

type Own = Awaited<ReturnType<typeof workspace>>;
/** A message as the model keeps it. */
type Kept = { email: EmailRecord } | { sms: SmsRecord };

const tags = [null, 'offer', 'code'];
const countries = ['GB', 'FR', 'DE'];
const categories = ['hard_bounce', 'soft_bounce', 'rejected', 'suppressed', 'failed'] as const;
const gateways = ['simulator', 'acme', 'carrier-2'];
// Codes come from carriers, so they may have any form.
const codes = ['expired', 'smpp_401', '21211', 'no such number'];
const hourMs = 3_600_000;

/** One step; the numbers choose its message and its kind, as far as possible. */
const step = fc.record({
  what: fc.constantFrom(
    'email',
    'sms',
    'change',
    'change',
    'change',
    'complaint',
    'open',
    'count',
    'kill',
    'rebuild',
  ),
  one: fc.nat(1000),
  other: fc.nat(1000),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(own: Own, kept: Kept[], { what, one, other }: Step, start: Date): Promise<void> {
  const at = new Date(start.getTime() - (one % 26) * hourMs);
  const clientTag = tags[other % tags.length]!;
  const place = kept.length > 0 ? one % kept.length : 0;
  const chosen = kept[place];
  const later = new Date(start.getTime() + other * 1000);
  if (what === 'email')
    kept.push({
      email: await emailAt(own, at, { clientTag, recipient: `someone@${other % 4}.example` }),
    });
  if (what === 'sms') {
    const status = other % 5 === 0 ? 'held' : 'queued';
    const parts = 1 + (other % 3);
    const changes = {
      clientTag,
      status,
      parts,
      country: countries[other % 3]!,
      charged: status === 'held' ? 0 : parts * 400,
      cost: { gbp: parts * 400, eur: parts * 460 },
      lineageId: own.keyId,
    } as const;
    kept.push({ sms: await textAt(own, at, changes) });
  }
  if (what === 'count') await countAll();
  if (what === 'rebuild')
    await reports.rebuild(own.workspaceId, new Date(start.getTime() - 30 * hourMs), later);
  if (what === 'kill') {
    await relay.relayAll();
    // The transaction loses all writes of the consumer, as when its process is killed before the commit.
    const killed = transaction(async () => {
      await reports.countEvents();
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
  }
  if (!chosen) return;
  if ('sms' in chosen && what === 'change') {
    const next = smsNext[chosen.sms.status];
    const status = next[other % next.length];
    const reason = {
      category: 'failed',
      code: codes[other % 4]!,
      description: null,
      retryable: false,
    } as const;
    const changes = {
      ...(status === 'failed' && { reason }),
      ...(status === 'sent' && { gateway: gateways[other % 3]! }),
    };
    if (status) kept[place] = { sms: await advanceText(chosen.sms, status, { at: later, ...changes }) };
  }
  if (!('email' in chosen)) return;
  const { email } = chosen;
  if (what === 'change') {
    const next = emailNext[email.status];
    const status = next[other % next.length];
    const category = categories[other % categories.length]!;
    const reason = { category, code: 'x', description: null, retryable: false };
    if (status)
      kept[place] = {
        email: await advanceEmail(email, status, { at: later, ...(status === 'failed' && { reason }) }),
      };
  }
  if (what === 'complaint' && email.status === 'delivered')
    kept[place] = { email: await complainOf(email, later) };
  if (what === 'open' && email.status === 'delivered' && email.openedAt === null)
    kept[place] = { email: await openEmail(email, later) };
}

const statuses = ['queued', 'held', 'sent', 'delivered', 'failed', 'cancelled'] as const;

/** Counts the figures directly from the list of all messages. */
function figuresOf(messages: Kept[]) {
  const records = messages.map((kept) => ('email' in kept ? kept.email : kept.sms));
  const texts = messages.flatMap((kept) => ('sms' in kept ? [kept.sms] : []));
  const sum = (value: (message: SmsRecord) => number) => texts.reduce((total, sms) => total + value(sms), 0);
  return {
    accepted: records.length,
    ...Object.fromEntries(
      statuses.map((status) => [status, records.filter((record) => record.status === status).length]),
    ),
    parts: sum(({ parts }) => parts),
    cost: { gbp: moneyText(sum(({ cost }) => cost.gbp!)), eur: moneyText(sum(({ cost }) => cost.eur!)) },
  };
}

const channelOf = (kept: Kept) => ('email' in kept ? 'email' : 'sms');
const recordOf = (kept: Kept): EmailRecord | SmsRecord => ('email' in kept ? kept.email : kept.sms);

async function expectFigures(own: Own, kept: Kept[], start: Date): Promise<void> {
  const range = {
    from: { time: new Date(start.getTime() - 30 * hourMs) },
    to: { time: new Date(start.getTime() + hourMs) },
    timeZone: 'UTC',
  };
  const groups = (keyOf: (one: Kept) => string, some = kept) =>
    [...Map.groupBy(some, keyOf)].map(([key, list]) => ({ key, ...figuresOf(list) }));
  const sorted = (rows: object[]) =>
    rows.map((row) => JSON.stringify(row, Object.keys(row).toSorted())).toSorted();

  for (const interval of ['hour', 'day'] as const) {
    const cut = interval === 'day' ? 10 : 13;
    const { data } = await reports.sends(own, { ...range, interval });
    expect(
      sorted(
        data
          .filter(({ accepted }) => accepted > 0)
          .map(({ start: at, channel, ...counts }) => ({ key: `${at.slice(0, cut)} ${channel}`, ...counts })),
      ),
    ).toEqual(
      sorted(groups((one) => `${recordOf(one).createdAt.toISOString().slice(0, cut)} ${channelOf(one)}`)),
    );
  }
  const byTag = await reports.clientTags(own, range);
  expect(
    sorted(
      byTag.data.map(({ clientTag, channel, deliveredRate, ...counts }) => {
        expect(deliveredRate).toBe((counts.delivered / counts.accepted).toFixed(4));
        return { key: `${clientTag} ${channel}`, ...counts };
      }),
    ),
  ).toEqual(sorted(groups((one) => `${recordOf(one).clientTag} ${channelOf(one)}`)));
  const texts = kept.filter((one) => 'sms' in one);
  const byCountry = await reports.countries(own, range);
  expect(
    sorted(
      byCountry.data.map(({ country, gateway, channel, deliveredRate, errors, ...counts }) => {
        expect(deliveredRate).toBe((counts.delivered / counts.accepted).toFixed(4));
        const own = texts
          .map(({ sms }) => sms)
          .filter((sms) => sms.country === country && sms.gateway === gateway);
        const failed = codes.map((errorCode) => ({
          errorCode,
          messages: own.filter(({ reason }) => reason?.code === errorCode).length,
        }));
        expect(sorted(errors)).toEqual(sorted(failed.filter(({ messages }) => messages > 0)));
        return { key: `${country} ${gateway} ${channel}`, ...counts };
      }),
    ),
  ).toEqual(
    sorted(
      groups((one) => {
        const { country, gateway } = recordOf(one) as SmsRecord;
        return `${country} ${gateway} sms`;
      }, texts),
    ),
  );
  const times = (await reports.latency(own, range)).data.filter(({ channel }) => channel === 'sms');
  expect(sorted(times.map(({ gateway, sent }) => ({ gateway, count: sent.count })))).toEqual(
    sorted(
      [
        ...Map.groupBy(
          texts.filter(({ sms }) => sms.sentAt !== null),
          ({ sms }) => sms.gateway,
        ),
      ].map(([gateway, { length: count }]) => ({ gateway, count })),
    ),
  );

  const emails = kept.flatMap((one) => ('email' in one ? [one.email] : []));
  const { data } = await reports.emailDeliverability(own, range);
  for (const [by, domainOf] of [
    ['recipientDomain', ({ recipient }: EmailRecord) => recipient.split('@')[1]!],
    ['sendingDomain', () => own.domain],
  ] as const) {
    const rows = data.filter((row) => row.by === by);
    expect(rows.map(({ domain }) => domain).toSorted()).toEqual(
      [...new Set(emails.map(domainOf))].toSorted(),
    );
    for (const row of rows) {
      const ofDomain = emails.filter((email) => domainOf(email) === row.domain);
      const failed = (category: string) =>
        ofDomain.filter(({ status, reason }) => status === 'failed' && reason?.category === category).length;
      const complaints = ofDomain.filter(({ reason }) => reason?.category === 'complaint').length;
      expect(row).toMatchObject({
        accepted: ofDomain.length,
        hardBounces: failed('hard_bounce'),
        softBounces: failed('soft_bounce'),
        rejected: failed('rejected'),
        suppressed: failed('suppressed'),
        complaints,
        opened: ofDomain.filter(({ openedAt }) => openedAt !== null).length,
      });
    }
  }
  const isFree = ({ status, sentAt }: SmsRecord) =>
    status === 'held' || status === 'cancelled' || (status === 'failed' && sentAt === null);
  const paid = texts.map(({ sms }) => sms).filter((sms) => !isFree(sms));
  const spent = await reports.spendTotal(own.workspaceId, range.from.time, range.to.time);
  expect(spent).toEqual({
    messages: paid.length,
    parts: paid.reduce((sum, { parts }) => sum + parts, 0),
    gbp: paid.reduce((sum, { cost }) => sum + cost.gbp!, 0),
    eur: paid.reduce((sum, { cost }) => sum + cost.eur!, 0),
    charged: paid.reduce((sum, { charged }) => sum + charged, 0),
  });
  for (const dimension of ['country', 'key', 'tag'] as const) {
    const rows = await reports.spendBy(own.workspaceId, range.from.time, range.to.time, dimension);
    expect(rows.reduce((sum, { gbp }) => sum + gbp, 0)).toBe(spent.gbp);
  }
}

/** Returns all stored figures of a workspace, without rows that have become zero. */
async function stored(own: Own): Promise<string[]> {
  const id = idToBytes(own.workspaceId);
  const counts = await query('SELECT * FROM report_counts WHERE workspace_id = ? AND accepted <> 0', [id]);
  const times = await query('SELECT * FROM report_latencies WHERE workspace_id = ? AND messages <> 0', [id]);
  const states = await query('SELECT * FROM report_states WHERE workspace_id = ?', [id]);
  return [...counts, ...times, ...states].map((row) => JSON.stringify(row)).toSorted();
}

// Shows F44
test('whatever happens to messages and to who counts them, the figures are those of the messages; a rebuild changes nothing', async () => {
  changeSettings({ REPORT_BATCH: 7 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60, size: 'max' }), async (steps) => {
      const own = await workspace();
      const start = new Date(Math.floor(now().getTime() / hourMs) * hourMs);
      const kept: Kept[] = [];
      for (const one of steps) await take(own, kept, one, start);
      await countAll();
      await expectFigures(own, kept, start);
      const before = await stored(own);
      const from = new Date(start.getTime() - 30 * hourMs);
      const { messages } = await reports.rebuild(own.workspaceId, from, new Date(start.getTime() + hourMs));
      expect(messages).toBe(kept.length);
      expect(await stored(own)).toEqual(before);
      // A rebuild from the messages alone gives the same figures.
      const id = idToBytes(own.workspaceId);
      await query('DELETE FROM report_counts WHERE workspace_id = ?', [id]);
      await query('DELETE FROM report_latencies WHERE workspace_id = ?', [id]);
      await query(
        "UPDATE report_states SET counted = CONCAT(LEFT(counted, 1), 'q---,,0,') WHERE workspace_id = ?",
        [id],
      );
      await reports.rebuild(own.workspaceId, from, new Date(start.getTime() + hourMs));
      expect(await stored(own)).toEqual(before);
    }),
    { numRuns: 3, endOnFailure: true },
  );
});

import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { listSuppressions } from '../../../../shared/db/suppressions.ts';
import { mangled } from '../../../support/api/mangled.ts';
import { eventsOf } from '../../../support/data/accepted-email.ts';
import { workspace } from '../../../support/data/factory.ts';
import { feedbackReport, statusReport } from '../../../support/data/mail-reports.ts';
import { emailIn, receive } from '../../../support/data/reported-email.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

let recipients = 0;
/** Returns a new address for each email, so that a suppression belongs to one email. */
const newRecipient = () => `ada${(recipients += 1)}@example.com`;

async function suppressionsOf(recipient: string) {
  const { records } = await listSuppressions(
    own.workspaceId,
    { emailKey: recipient.toLowerCase() },
    { limit: 10, before: null },
  );
  return records.map(({ source, scope, reason }) => ({ source, scope, reason }));
}

const reports = {
  missing: (recipient: string) => statusReport({ recipient }),
  refused: (recipient: string) =>
    statusReport({ recipient, status: '5.7.1', diagnostic: 'smtp; 554 5.7.1 Refused by policy' }),
  late: (recipient: string) =>
    statusReport({ recipient, status: '4.4.1', diagnostic: 'X-Postfix; connection timed out' }),
  delivered: (recipient: string) =>
    statusReport({ recipient, action: 'delivered', status: '2.0.0', diagnostic: null }),
  delayed: (recipient: string) =>
    statusReport({ recipient, action: 'delayed', status: '4.4.1', diagnostic: null }),
  relayed: (recipient: string) =>
    statusReport({ recipient, action: 'relayed', status: '2.0.0', diagnostic: null }),
  expanded: (recipient: string) =>
    statusReport({ recipient, action: 'expanded', status: '2.0.0', diagnostic: null }),
  complaint: () => feedbackReport(),
  praise: () => feedbackReport({ type: 'not-spam' }),
} as const;
type Name = keyof typeof reports;

describe('what a report makes of an email', () => {
  test.each<
    [
      status: 'sent' | 'delivered' | 'failed' | 'cancelled',
      Name,
      state: unknown,
      events: string[],
      suppressed: string | null,
    ]
  >([
    ['sent', 'missing', ['failed', 'hard_bounce mailbox_unknown'], ['email.bounced'], 'bounce'],
    ['sent', 'refused', ['failed', 'rejected refused_by_policy'], ['email.failed'], null],
    ['sent', 'late', ['failed', 'soft_bounce temporarily_refused'], ['email.bounced'], null],
    ['sent', 'delivered', ['delivered', null], ['email.delivered'], null],
    ['sent', 'delayed', ['sent', 'soft_bounce temporarily_refused'], ['email.delayed'], null],
    ['sent', 'relayed', ['delivered', null], ['email.delivered'], null],
    ['sent', 'expanded', ['delivered', null], ['email.delivered'], null],
    ['sent', 'complaint', ['sent', 'complaint abuse'], ['email.complained'], 'complaint'],
    ['sent', 'praise', ['sent', null], [], null],
    ['delivered', 'missing', ['failed', 'hard_bounce mailbox_unknown'], ['email.bounced'], 'bounce'],
    ['delivered', 'refused', ['failed', 'rejected refused_by_policy'], ['email.failed'], null],
    ['delivered', 'delivered', ['delivered', null], [], null],
    ['delivered', 'delayed', ['delivered', null], [], null],
    ['delivered', 'complaint', ['delivered', 'complaint abuse'], ['email.complained'], 'complaint'],
    ['failed', 'delivered', ['failed', null], [], null],
    ['failed', 'delayed', ['failed', null], [], null],
    // The email's final state stays, but the address is suppressed from now on.
    ['failed', 'missing', ['failed', null], [], 'bounce'],
    ['failed', 'complaint', ['failed', null], [], 'complaint'],
    ['cancelled', 'delivered', ['cancelled', null], [], null],
  ])('%s, then %s', async (status, name, state, types, suppressed) => {
    const recipient = newRecipient();
    const email = await emailIn(status, own, { recipient });
    const before = await email.read();
    const raw = reports[name](recipient);
    const isNews = types.length > 0;
    expect(await receive(raw, [email.returnPath])).toBe(isNews ? 'changed' : 'unchanged');
    expect(await email.state()).toEqual(state);
    expect(await email.eventTypes()).toEqual(['email.queued', ...types]);
    expect((await suppressionsOf(recipient)).map(({ source }) => source)).toEqual(
      suppressed ? [suppressed] : [],
    );

    // The record, its newest event and its times agree.
    const after = await email.read();
    const [, event] = await eventsOf(own, email.id);
    if (event)
      expect(event.data).toMatchObject({ status: after.status, updatedAt: after.updatedAt.toISOString() });
    expect(after.updatedAt.getTime()).toBeGreaterThanOrEqual(before.updatedAt.getTime());
    if (!isNews) expect(after).toEqual(before);

    // Servers send reports again when an answer is lost.
    expect(await receive(raw, [email.returnPath])).toBe('unchanged');
    expect(await email.read()).toEqual(after);
    expect(await suppressionsOf(recipient)).toHaveLength(suppressed ? 1 : 0);
  });

  test('a bounce says what was answered, a suppression why', async () => {
    const recipient = newRecipient();
    const email = await emailIn('sent', own, { recipient });
    await receive(statusReport({ recipient }), [email.returnPath]);
    expect((await email.read()).reason).toEqual({
      category: 'hard_bounce',
      code: 'mailbox_unknown',
      description: '550 5.1.1 No such mailbox',
      retryable: false,
    });
    expect(await suppressionsOf(recipient)).toEqual([
      { source: 'bounce', scope: 'all', reason: '550 5.1.1 No such mailbox' },
    ]);
  });

  test('an email is told to be late once, whoever tells it', async () => {
    const recipient = newRecipient();
    const email = await emailIn('sent', own, { recipient });
    const again = () => receive(reports.delayed(recipient), [email.returnPath]);
    expect([await again(), await again(), await again()]).toEqual(['changed', 'unchanged', 'unchanged']);
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed']);
    expect(await receive(reports.delivered(recipient), [email.returnPath])).toBe('changed');
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed', 'email.delivered']);
    // The delay event carries a reason; the delivered email has none.
    const [, delayed, delivered] = await eventsOf(own, email.id);
    expect(delayed!.data).toMatchObject({
      status: 'sent',
      reason: { category: 'soft_bounce', code: 'temporarily_refused', retryable: true },
    });
    expect(delivered!.data).not.toHaveProperty('reason');
    expect(await email.state()).toEqual(['delivered', null]);
  });

  test('an email is not late once its recipient has complained about it', async () => {
    const recipient = newRecipient();
    const email = await emailIn('sent', own, { recipient });
    await receive(reports.complaint(), [email.returnPath]);
    expect(await receive(reports.delayed(recipient), [email.returnPath])).toBe('unchanged');
    expect(await email.state()).toEqual(['sent', 'complaint abuse']);
  });

  test('a complaint before the report of the delivery is kept', async () => {
    const recipient = newRecipient();
    const email = await emailIn('sent', own, { recipient });
    await receive(reports.complaint(), [email.returnPath]);
    await receive(reports.delivered(recipient), [email.returnPath]);
    expect(await email.state()).toEqual(['delivered', 'complaint abuse']);
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.complained', 'email.delivered']);
  });

  test('of several groups in a report each is applied, in their order', async () => {
    const recipient = newRecipient();
    const email = await emailIn('sent', own, { recipient });
    const second = `\r\n\r\nFinal-Recipient: rfc822; ${recipient}\r\nAction: failed\r\nStatus: 5.1.1`;
    const raw = reports
      .delivered(recipient)
      .toString()
      .replace('Remote-MTA: dns; mx.example.com', `Remote-MTA: dns; mx.example.com${second}`);
    expect(await receive(Buffer.from(raw), [email.returnPath])).toBe('changed');
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.delivered', 'email.bounced']);
  });

  test('reports in any order, many at once, end where the table of statuses allows, with each event once', async () => {
    const rounds = 6;
    for (let round = 0; round < rounds; round += 1) {
      const recipient = newRecipient();
      const email = await emailIn('sent', own, { recipient });
      const all = [reports.missing, reports.delivered, reports.delayed, reports.late, reports.complaint];
      const shuffled = [...all, ...all].map((make, index) => ({
        make,
        key: (index * 7919 + round * 104729) % 31,
      }));
      shuffled.sort((a, b) => a.key - b.key);
      await Promise.all(shuffled.map(({ make }) => receive(make(recipient), [email.returnPath])));
      expect((await email.read()).status).toBe('failed');
      const [first, ...types] = await email.eventTypes();
      expect(first).toBe('email.queued');
      expect(types.filter((type) => type === 'email.bounced')).toHaveLength(1);
      expect(new Set(types).size).toBe(types.length);
      expect(types.indexOf('email.delivered')).toBeLessThan(types.indexOf('email.bounced'));
      // Two reports at the same time may both find no suppression, yet only one may be made.
      expect((await suppressionsOf(recipient)).length).toBe(1);
    }
  });
});

test('however a report is mangled, the email is in a state that the table allows, with an event for each step', async () => {
  const recipient = newRecipient();
  await fc.assert(
    fc.asyncProperty(
      fc
        .constantFrom<Name>('missing', 'late', 'delivered', 'delayed', 'complaint')
        .chain((name) => mangled(reports[name](recipient))),
      async (raw) => {
        const email = await emailIn('sent', own, { recipient });
        const outcome = await receive(raw, [email.returnPath]);
        const after = await email.read();
        expect(['sent', 'delivered', 'failed']).toContain(after.status);
        const types = await email.eventTypes();
        expect(types).toHaveLength(after.eventSeq);
        expect(types.length > 1).toBe(outcome === 'changed');
      },
    ),
    { numRuns: 30 },
  );
});

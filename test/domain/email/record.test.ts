import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EmailReason, EmailRecord, EmailStatus } from '../../../shared/db/email/emails.ts';
import { advance, eventOf, nextStatuses, toWire } from '../../../shared/domain/email/record.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { Email } from '../../../shared/schemas/email/email.ts';

const createdAt = new Date('2026-11-20T10:00:00.000Z');
const statuses: EmailStatus[] = ['queued', 'sent', 'delivered', 'failed', 'cancelled'];
const reason: EmailReason = { category: 'failed', code: 'x', description: null, retryable: false };

const queued: EmailRecord = {
  id: newId('email', createdAt),
  workspaceId: newId('workspace', createdAt),
  kind: 'transactional',
  status: 'queued',
  sender: 'a@b.example',
  recipient: 'c@d.example',
  recipientKey: 'c@d.example',
  subject: 'Subject',
  textExcerpt: 'Text',
  reason: null,
  clientReference: null,
  clientTag: null,
  trackOpens: false,
  bypassSuppressions: false,
  openCount: 0,
  createdAt,
  updatedAt: createdAt,
  scheduledAt: null,
  sentAt: null,
  deliveredAt: null,
  openedAt: null,
  dueAt: createdAt,
  parked: true,
  claims: 1,
  retries: 2,
  uncertainCount: 0,
  handoverAt: null,
  triedAt: null,
  storedBytes: 7,
  eventSeq: 1,
  requestId: 'request',
};
const later = (ms: number) => new Date(createdAt.getTime() + ms);
const inStatus = (status: EmailStatus): EmailRecord => ({ ...queued, status });

test('an email goes from queued to sent, failed or cancelled, from sent to delivered or failed, from delivered to failed', () => {
  const allowed: [EmailStatus, EmailStatus][] = [
    ['queued', 'sent'],
    ['queued', 'failed'],
    ['queued', 'cancelled'],
    ['sent', 'delivered'],
    ['sent', 'failed'],
    ['delivered', 'failed'],
  ];
  for (const from of statuses)
    for (const to of statuses) {
      const change = () => advance(inStatus(from), to, { at: later(1), reason });
      if (allowed.some(([a, b]) => a === from && b === to)) expect(change().status).toBe(to);
      else expect(change).toThrow(`from ${from} to ${to}`);
    }
});

test('no way leads back to a status that the email has had', () => {
  const reachable = (from: EmailStatus): EmailStatus[] =>
    nextStatuses[from].flatMap((next) => [next, ...reachable(next)]);
  for (const status of statuses) expect(reachable(status)).not.toContain(status);
});

test('a change counts an event, sets its own time, and is due for nothing more', () => {
  const sent = advance(queued, 'sent', { at: later(5) });
  expect(sent).toEqual({
    ...queued,
    status: 'sent',
    sentAt: later(5),
    updatedAt: later(5),
    dueAt: null,
    parked: false,
    eventSeq: 2,
  });
  const delivered = advance(sent, 'delivered', { at: later(9) });
  expect(delivered).toEqual({
    ...sent,
    status: 'delivered',
    deliveredAt: later(9),
    updatedAt: later(9),
    eventSeq: 3,
  });
  const failed = advance(delivered, 'failed', { at: later(10), reason });
  expect(failed).toMatchObject({ sentAt: later(5), deliveredAt: later(9), reason, eventSeq: 4 });
});

test('updatedAt never falls, whatever the clocks say', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -10_000, max: 10_000 }),
      fc.integer({ min: -10_000, max: 10_000 }),
      (a, b) => {
        const sent = advance(queued, 'sent', { at: later(a) });
        const delivered = advance(sent, 'delivered', { at: later(b) });
        expect(sent.updatedAt.getTime()).toBeGreaterThanOrEqual(queued.updatedAt.getTime());
        expect(delivered.updatedAt.getTime()).toBeGreaterThanOrEqual(sent.updatedAt.getTime());
      },
    ),
  );
});

test('a failed email is bounced or failed, never both', () => {
  const typeOf = (category: EmailReason['category']) =>
    eventOf(advance(queued, 'failed', { at: later(1), reason: { ...reason, category } })).type;
  expect(typeOf('hard_bounce')).toBe('email.bounced');
  expect(typeOf('soft_bounce')).toBe('email.bounced');
  for (const category of ['rejected', 'suppressed', 'failed'] as const)
    expect(typeOf(category)).toBe('email.failed');
});

test('each status has the event of its name, with the email as it is then', () => {
  expect(eventOf(queued).type).toBe('email.queued');
  expect(eventOf(advance(queued, 'cancelled', { at: later(1) })).type).toBe('email.cancelled');
  const sent = advance(queued, 'sent', { at: later(1) });
  expect(eventOf(sent)).toMatchObject({
    type: 'email.sent',
    recordId: queued.id,
    recordSeq: 2,
    occurredAt: later(1),
    requestId: 'request',
    data: JSON.stringify(toWire(sent)),
  });
});

test('what goes over the wire has the documented shape in every status; reason only where there is one', () => {
  for (const status of statuses) {
    const record = { ...inStatus(status), reason: status === 'failed' ? reason : null };
    const wire = toWire(record);
    expect(Email.parse(wire)).toEqual(wire);
    expect('reason' in wire).toBe(status === 'failed');
    expect(wire.content).toEqual({ html: null, text: 'Text' });
  }
});

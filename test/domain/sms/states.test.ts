import { expect, test } from 'vitest';
import type { SmsRecord } from '../../../shared/db/sms/messages.ts';
import { advance, nextStatuses } from '../../../shared/domain/sms/record.ts';
import { SmsStatus } from '../../../shared/schemas/sms/sms.ts';

// API decisions §8.
const allowed = [
  'queued held',
  'queued sent',
  'queued failed',
  'queued cancelled',
  'held queued',
  'held failed',
  'held cancelled',
  'sent delivered',
  'sent failed',
];

const early = new Date('2026-11-20T10:00:00Z');
const pairs = SmsStatus.options.flatMap((from) => SmsStatus.options.map((to) => [from, to] as const));

test.each(pairs)('%s to %s is as the contract has it', (from, to) => {
  const message = { status: from, updatedAt: early, eventSeq: 1 } as SmsRecord;
  const change = () => advance(message, to, { at: early });
  if (allowed.includes(`${from} ${to}`)) expect(change()).toMatchObject({ status: to, eventSeq: 2 });
  else expect(change).toThrow(/does not go/);
});

test('updatedAt never falls', () => {
  const message = { status: 'queued', updatedAt: early, eventSeq: 1 } as SmsRecord;
  const at = new Date(early.getTime() - 5);
  expect(advance(message, 'sent', { at }).updatedAt).toEqual(early);
});

test('the table names every status', () =>
  expect(Object.keys(nextStatuses).toSorted()).toEqual(SmsStatus.options.toSorted()));

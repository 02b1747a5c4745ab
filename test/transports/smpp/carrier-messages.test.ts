import { expect, onTestFinished, test, vi } from 'vitest';
import { logger } from '../../../shared/common/logger.ts';
import { takeCounts } from '../../../shared/common/metrics.ts';
import { commands, encodePdu, encodeShortMessage } from '../../../shared/transports/sms/smpp/pdu.ts';
import { startSmsc } from '../../support/servers/smsc.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { bound, message } from './bound-session.ts';

/** Watches what is counted and warned of, from now until the test ends. */
function watched() {
  takeCounts();
  const warn = vi.spyOn(logger, 'warn');
  onTestFinished(() => warn.mockRestore());
  return {
    counts: () => Object.fromEntries(takeCounts()),
    warnings: () => (warn.mock.calls as unknown[][]).map(([context, line]) => [line, context]),
  };
}

test('it says goodbye once the texts that it is storing are answered', async () => {
  const smsc = await startSmsc();
  const kept = Promise.withResolvers<{ status: number }>();
  const onDeliver = vi.fn(() => kept.promise);
  const { session } = await bound(smsc, { onDeliver });
  const own = smsc.deliver({ message: Buffer.from('Hello') });
  await waitFor('it is in progress', () => onDeliver.mock.calls.length === 1);
  const closed = session.close(20_000);
  await smsc.roundTrips();
  expect(smsc.unbinds).toBe(0);
  kept.resolve({ status: 0 });
  await closed;
  expect([smsc.answers.get(own)?.status, smsc.unbinds]).toEqual([0, 1]);
});

test('PDUs that come byte by byte are answered, and texts only once they are kept', async () => {
  const smsc = await startSmsc();
  smsc.pieceBytes = 1;
  const kept = Promise.withResolvers<{ status: number }>();
  const { session } = await bound(smsc, { onDeliver: () => kept.promise });
  const own = smsc.deliver({ message: Buffer.from('Hello') });
  expect(await session.submit(message, 30_000)).toMatchObject({ kind: 'answered' });
  expect(smsc.answers.has(own)).toBe(false);
  kept.resolve({ status: 0 });
  expect(await smsc.answerOf(own)).toBe(0);
});

test('a text that comes in one segment with the answer to the bind is kept', async () => {
  const smsc = await startSmsc();
  const body = encodeShortMessage({ ...message, message: Buffer.from('At once') });
  smsc.behindBind = encodePdu({ id: commands.deliver_sm, status: 0, sequence: 700, body });
  const { delivered } = await bound(smsc);
  expect(await smsc.answerOf(700)).toBe(0);
  expect(delivered.map((one) => one.message.toString())).toEqual(['At once']);
});

test('a carrier that always speaks is asked whether it has read our answers', async () => {
  const smsc = await startSmsc();
  const heard: string[] = [];
  const acknowledgement = {
    written: () => void heard.push('written'),
    read: () => void heard.push('read'),
    unread: () => void heard.push('unread'),
  };
  await bound(smsc, { enquireMs: 100, onDeliver: async () => ({ status: 0, acknowledgement }) });
  await waitFor(
    'the first is read',
    () => {
      smsc.deliver({ message: Buffer.from('Hello') });
      return heard.includes('read');
    },
    { intervalMs: 10 },
  );
  expect(heard[0]).toBe('written');
  expect(smsc.enquiries).toBeGreaterThan(0);
  smsc.answersEnquiries = false;
  await smsc.answerOf(smsc.deliver({ message: Buffer.from('Hello') }));
  expect(heard).not.toContain('unread');
  smsc.cut();
  await waitFor('of the last it is not known', () => heard.includes('unread'));
});

test('what cannot be kept is to come again; what cannot be read is refused', async () => {
  const { counts, warnings } = watched();
  const smsc = await startSmsc();
  await bound(smsc, { onDeliver: () => Promise.reject(new Error('no database')) });
  expect(await smsc.answerOf(smsc.deliver({ message: Buffer.from('Hello') }))).toBe(0x64);
  smsc.write(encodePdu({ id: commands.deliver_sm, status: 0, sequence: 900, body: Buffer.from([1, 2]) }));
  expect(await smsc.answerOf(900)).toBe(0x65);
  smsc.write(encodePdu({ id: commands.deliver_sm, status: 0, sequence: 902, body: Buffer.from([1, 2]) }));
  expect(await smsc.answerOf(902)).toBe(0x65);
  // Each one is counted, and the log has one line a minute.
  expect(counts()).toEqual({ 'sms_gateway_unread{gateway="carrier",what="message"}': 2 });
  expect(warnings()).toEqual([
    [
      'a receipt or an incoming text of a gateway cannot be read',
      { gateway: 'carrier', what: 'message', detail: 'A text in a PDU has no end' },
    ],
  ]);
  smsc.write(encodePdu({ id: 0x777, status: 0, sequence: 901 }));
  expect(await smsc.answerOf(901)).toBe(0x03);
  expect(smsc.answers.get(901)?.id).toBe(commands.generic_nack);
});

test('of a flood, no more than some are claimed; the others are to come again', async () => {
  const { counts, warnings } = watched();
  const smsc = await startSmsc();
  const kept = Promise.withResolvers<{ status: number }>();
  let inFlight = 0;
  await bound(smsc, {
    onDeliver: () => {
      inFlight += 1;
      return kept.promise;
    },
  });
  const all = Array.from({ length: 500 }, () => smsc.deliver({ message: Buffer.from('Hello') }));
  await waitFor('300 are answered', () => smsc.answers.size === 300);
  kept.resolve({ status: 0 });
  const answers = await Promise.all(all.map(smsc.answerOf));
  expect(answers.filter((status) => status === 0)).toHaveLength(200);
  expect(answers.filter((status) => status === 0x64)).toHaveLength(300);
  expect(inFlight).toBe(200);
  expect(counts()).toEqual({ 'sms_gateway_floods{gateway="carrier"}': 300 });
  expect(warnings()).toEqual([
    [expect.stringContaining('more receipts and texts at a time'), expect.anything()],
  ]);
});

test('alert_notification gets no answer; data_sm is no message that we take', async () => {
  const smsc = await startSmsc();
  const { delivered } = await bound(smsc);
  smsc.write(encodePdu({ id: 0x102, status: 0, sequence: 950, body: Buffer.alloc(6) }));
  const body = encodeShortMessage({ ...message, esmClass: 4 });
  smsc.write(encodePdu({ id: 0x103, status: 0, sequence: 951, body }));
  expect(await smsc.answerOf(951)).toBe(0x03);
  expect(smsc.answers.get(951)?.id).toBe(commands.generic_nack);
  expect([smsc.answers.has(950), delivered]).toEqual([false, []]);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { commands, encodePdu, firstText, tags } from '../../../shared/transports/sms/smpp/pdu.ts';
import { selfSignedCertificate } from '../../support/servers/certificate.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { bound, message } from './bound-session.ts';

test('it binds, submits, and says goodbye once the answers under way have come', async () => {
  const smsc = await startSmsc();
  const reply = Promise.withResolvers<{ id: string }>();
  smsc.submit = () => reply.promise;
  const { session, reasons } = await bound(smsc);
  expect(smsc.binds).toEqual([
    { systemId: 'acme', password: 'secret', systemType: '', id: commands.bind_transceiver },
  ]);
  const answered = session.submit(message, 30_000);
  await waitFor('it is taken', () => smsc.taken.length === 1);
  const closed = session.close(20_000);
  await smsc.roundTrips();
  expect(smsc.unbinds).toBe(0);
  reply.resolve({ id: 'm1' });
  expect(await answered).toMatchObject({ kind: 'answered', status: 0 });
  await closed;
  expect(smsc.unbinds).toBe(1);
  expect(reasons).toEqual(['this process is closing']);
  expect(await session.submit(message, 1_000)).toEqual({ kind: 'unsent', detail: 'this process is closing' });
});

test('no more messages than the window are without an answer; one that finds no room in time is not sent', async () => {
  const smsc = await startSmsc();
  smsc.submit = () => 'silence';
  const { session } = await bound(smsc);
  const [first, second] = [session.submit(message, 20_000), session.submit(message, 20_000)];
  expect(await session.submit(message, 10)).toEqual({
    kind: 'unsent',
    detail: 'there was no room in the window',
  });
  const third = session.submit(message, 20_000);
  expect(smsc.taken).toHaveLength(await waitFor('two are taken', () => smsc.taken.length === 2 && 2));
  // An answer makes room for the next message.
  smsc.submit = (_, count) => ({ id: `m${count}` });
  smsc.write(
    encodePdu({ id: commands.submit_sm_resp, status: 0, sequence: 2, body: Buffer.from('first\0') }),
  );
  const answer = await first;
  expect(answer.kind === 'answered' && firstText(answer.body)).toBe('first');
  expect(await third).toMatchObject({ kind: 'answered' });
  smsc.cut();
  expect(await second).toMatchObject({ kind: 'unanswered' });
});

test('a message does not wait for its turn at a carrier that has stopped answering', async () => {
  const smsc = await startSmsc();
  smsc.submit = () => 'silence';
  const { session } = await bound(smsc, { responseMs: 60_000 });
  const underWay = [1, 2].map(() => session.submit(message, 60_000));
  // None of these messages waits for its whole time-out.
  const waited = await Promise.all([1, 2].map(() => session.submit(message, 50_000)));
  const late = await session.submit(message, 50_000);
  for (const one of [...waited, late])
    expect(one).toEqual({ kind: 'unsent', detail: 'the carrier is slow to answer' });
  expect(smsc.taken).toHaveLength(2);
  smsc.cut();
  await Promise.all(underWay);
});

test.each([
  ['garbage', (smsc: Smsc) => smsc.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')), 'No PDU has'],
  ['a reset', (smsc: Smsc) => smsc.cut(), 'ECONNRESET|closed'],
  [
    'an unbind',
    (smsc: Smsc) => smsc.write(encodePdu({ id: commands.unbind, status: 0, sequence: 3 })),
    'ended the session',
  ],
])('%s ends the session, and who waits for an answer is told', async (_, end, reason) => {
  const smsc = await startSmsc();
  smsc.submit = () => 'silence';
  const { session, reasons } = await bound(smsc);
  const submitted = session.submit(message, 30_000);
  await waitFor('it is taken', () => smsc.taken.length === 1);
  end(smsc);
  const detail = expect.stringMatching(new RegExp(reason));
  expect(await submitted).toEqual({ kind: 'unanswered', detail, isLost: true });
  expect(reasons).toEqual([expect.stringMatching(new RegExp(reason))]);
});

test('a generic_nack is an answer to the message whose sequence it has, and to none with the sequence 0', async () => {
  const smsc = await startSmsc();
  smsc.submit = () => 'silence';
  const { session, reasons } = await bound(smsc);
  const [first, second] = [session.submit(message, 20_000), session.submit(message, 20_000)];
  await waitFor('both are taken', () => smsc.taken.length === 2);
  // The bind has the sequence 1.
  const nack = (sequence: number, status: number) =>
    smsc.write(encodePdu({ id: commands.generic_nack, status, sequence }));
  nack(0, 0x02);
  nack(2, 0x03);
  expect(await first).toMatchObject({ kind: 'answered', status: 0x03 });
  expect(session.inUse()).toBe(1);
  // Some carriers send no status with it.
  nack(3, 0);
  expect(await second).toMatchObject({ kind: 'answered', status: 0x03 });
  expect(reasons).toEqual([]);
});

test('messages without an answer end no session while anything else comes from the carrier', async () => {
  const skip = skippableTimers();
  const smsc = await startSmsc();
  const { session, reasons } = await bound(smsc, { window: 10 });
  const unanswered = async (count: number) => {
    const taken = smsc.taken.length + count;
    smsc.submit = () => 'silence';
    const submitted = Array.from({ length: count }, () => session.submit(message, 60_000));
    await waitFor('they are taken', () => smsc.taken.length === taken);
    skip(20_000);
    for (const one of await Promise.all(submitted))
      expect(one).toEqual({ kind: 'unanswered', detail: 'no answer to submit_sm within 20 s' });
  };
  const isBound = async () => {
    smsc.submit = (_, sequence) => ({ id: `m${sequence}` });
    expect(await session.submit(message, 60_000)).toMatchObject({ kind: 'answered' });
    expect(reasons).toEqual([]);
  };
  await unanswered(4);
  await waitFor('the carrier is asked, once', () => smsc.enquiries === 1);
  await isBound();

  smsc.answersEnquiries = false;
  await unanswered(1);
  await waitFor('the carrier is asked', () => smsc.enquiries === 2);
  expect(await smsc.answerOf(smsc.deliver({ message: Buffer.from('Hello') }))).toBe(0);
  skip(20_000);
  await isBound();

  await unanswered(1);
  await waitFor('the carrier is asked', () => smsc.enquiries === 3);
  skip(20_000);
  await waitFor('the session is over', () => reasons.length === 1);
  expect(reasons).toEqual(['the carrier does not answer enquire_link']);
});

test('a carrier that is quiet and does not answer enquire_link is left', async () => {
  const smsc = await startSmsc();
  smsc.answersEnquiries = false;
  const { reasons } = await waitFor('it is bound', () =>
    // On a busy machine the answer to the bind may be late, so the bind is repeated until it succeeds.
    bound(smsc, { responseMs: 50, enquireMs: 20 }).catch(() => undefined),
  );
  await waitFor('the session is over', () => reasons.length === 1);
  expect(reasons).toEqual(['the carrier does not answer enquire_link']);
});

test('a carrier that no longer reads its connection is left before much waits for it', async () => {
  const smsc = await startSmsc();
  const { session, reasons } = await bound(smsc, { window: 1_000 });
  const tlvs = new Map([[tags.messagePayload, Buffer.alloc(60_000)]]);
  const submit = () => session.submit({ ...message, tlvs }, 30_000);
  // A carrier that reads may get any number of bytes.
  for (let left = 50; left > 0; left -= 1) expect((await submit()).kind).toBe('answered');
  smsc.stopReading();
  const submitted: ReturnType<typeof submit>[] = [];
  await waitFor(
    'the session is over',
    () => {
      submitted.push(submit());
      return reasons.length > 0;
    },
    { intervalMs: 1 },
  );
  expect(reasons).toEqual(['the carrier does not read its line']);
  const kinds = (await Promise.all(submitted)).map(({ kind }) => kind);
  expect(kinds[0]).toBe('unanswered');
  expect(kinds).not.toContain('answered');
});

test('a silent carrier is asked whether it is there, and stays', async () => {
  const smsc = await startSmsc();
  const { session, reasons } = await bound(smsc, { enquireMs: 20 });
  await waitFor('it is asked', () => smsc.enquiries >= 2);
  expect(await session.submit(message, 30_000)).toMatchObject({ kind: 'answered' });
  expect(reasons).toEqual([]);
});

test('a carrier that has been quiet is asked soon after the period, whenever it was heard last', async () => {
  const smsc = await startSmsc();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await bound(smsc, { enquireMs: 1_000 });
  vi.advanceTimersByTime(100);
  expect(await smsc.answerOf(smsc.deliver({ message: Buffer.from('Hello') }))).toBe(0);
  vi.advanceTimersByTime(1_250);
  vi.useRealTimers();
  await waitFor('it is asked', () => smsc.enquiries === 1);
});

test('a refused bind says why', async () => {
  const smsc = await startSmsc();
  smsc.bindStatus = 0x0e;
  await expect(bound(smsc)).rejects.toThrow('ESME_RINVPASWD (0x0e): the password is invalid');
});

test('TLS is used where its certificate is trusted, and for the right name', async () => {
  const certificate = selfSignedCertificate(['localhost']);
  const smsc = await startSmsc({ certificate });
  const { session } = await bound(smsc, { host: 'localhost', isTls: true, ca: certificate.cert });
  expect(await session.submit(message, 30_000)).toMatchObject({ kind: 'answered' });
  await expect(bound(smsc, { host: 'localhost', isTls: true })).rejects.toThrow('self-signed');
  await expect(bound(smsc, { host: '127.0.0.1', isTls: true, ca: certificate.cert })).rejects.toThrow(
    "does not match certificate's altnames",
  );
});

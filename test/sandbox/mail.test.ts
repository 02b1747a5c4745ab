import { afterEach, expect, test } from 'vitest';
import { closeMailThreads, mailThreadStats, readMail, readSignedMail } from '../../shared/sandbox/mail.ts';
import { statusReport } from '../support/data/mail-reports.ts';
import { slowToVerify } from '../support/data/signed-reports.ts';

afterEach(closeMailThreads);

const report = statusReport();
const slow = slowToVerify('loop.example');
const signed = { keys: new Map([['s._domainkey.loop.example', ['v=DKIM1; p=AAAA']]]), at: new Date() };
const tooSlow = { ok: false, fault: 'takes longer than 0.3 s to read' };

test('mail is read in a thread, and what is more than any report is refused with the reason', async () => {
  expect(await readMail('a', report)).toMatchObject({
    ok: true,
    read: { report: { kind: 'delivery' }, deliveredTo: ['bounce@example.org'] },
  });
  expect(await readMail('a', Buffer.from('A: b\r\n'.repeat(2_000)))).toEqual({
    ok: false,
    fault: 'has more than 1000 header fields',
  });
  expect(mailThreadStats()).toMatchObject({ threads: 1, killed: 0 });
});

// Shows A57
test('mail that takes too long is given up, and other senders are served meanwhile', async () => {
  await readMail('other', report);
  const order: string[] = [];
  const hostile = Array.from({ length: 3 }, () =>
    readSignedMail('hostile', slow, signed).then((result) => {
      order.push('hostile');
      return result;
    }),
  );
  for (let index = 0; index < 6; index += 1) {
    // The hostile sender can hold one thread only, so another one serves this mail.
    expect(await readMail('other', report)).toMatchObject({ ok: true });
    order.push('other');
  }
  const results = await Promise.all(hostile);
  expect(results[0]).toEqual(tooSlow);
  // On a slow machine the other hostile mails may fail by waiting too long instead.
  for (const { ok } of results) expect(ok).toBe(false);
  expect(order.lastIndexOf('other')).toBeLessThan(order.lastIndexOf('hostile'));
  expect(mailThreadStats().killed).toBeGreaterThan(0);
  expect(await readMail('hostile', report)).toMatchObject({ ok: true });
});

// Shows A58
test('a sender has so much waiting and no more; others have room', async () => {
  const large = Buffer.alloc(256 * 1024, 'x: y\r\n');
  const many = Array.from({ length: 200 }, () => readMail('hostile', large));
  expect(await readMail('other', report)).toMatchObject({ ok: true });
  const results = await Promise.all(many);
  // A sender may have 32 MB waiting; mail that a thread has taken no longer counts.
  expect(results.filter((result) => 'busy' in result).length).toBeGreaterThan(50);
});

// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { headOf } from '../../../shared/domain/email/mail-reports/mail-reports.ts';
import { startInbound } from '../../../workers/inbound/server.ts';
import { workspace } from '../../support/data/factory.ts';
import { feedbackReport, statusReport } from '../../support/data/mail-reports.ts';
import { emailIn } from '../../support/data/reported-email.ts';
import { slowToVerify } from '../../support/data/signed-reports.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startInboundProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startDnsServer } from '../../support/servers/dns-server.ts';
import { connectSmtp, sendMail } from '../../support/servers/smtp-client.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let port: number;
beforeAll(async () => {
  own = await workspace();
  changeSettings({ RETURN_PATH_DOMAIN: 'bounce.example.org' });
  const inbound = await startInbound({ port: 0, address: '127.0.0.1' });
  atEnd(() => inbound.stop(0));
  ({ port } = inbound);
});

test('a bounce is applied when 250 is said', async () => {
  const email = await emailIn('sent', own);
  expect((await sendMail(port, email.returnPath, statusReport())).at(-1)).toMatch(/^250 /);
  expect(await email.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
});

test('a complaint is taken at fbl@', async () => {
  const email = await emailIn('delivered', own);
  const raw = feedbackReport({ fields: [`Original-Mail-From: <${email.returnPath}>`] });
  expect((await sendMail(port, 'fbl@bounce.example.org', raw, 'fbl@loop.example')).at(-1)).toMatch(/^250 /);
  expect(await email.state()).toEqual(['delivered', 'complaint abuse']);
});

test('an automatic answer to a bounce address is taken and forgotten; at fbl@ a letter is refused, not swallowed', async () => {
  const email = await emailIn('sent', own);
  const letter = Buffer.from('Subject: Hello\r\n\r\nI am away.\r\n');
  expect((await sendMail(port, email.returnPath, letter, 'ada@example.com')).at(-1)).toMatch(/^250 /);
  expect(await email.state()).toEqual(['sent', null]);
  expect((await sendMail(port, 'abuse@bounce.example.org', letter, 'ada@example.com')).at(-1)).toMatch(
    /^550 5\.6\.0 /,
  );
});

test.each([
  'ada@example.com',
  'postmaster@bounce.example.org',
  'bounce+0@bounce.example.org',
  'fbl@other.example',
])('no mail is taken for %s', async (address) => {
  expect((await sendMail(port, address, statusReport())).at(-1)).toMatch(/^550 5\.1\.1 /);
});

test('a returned message of many megabytes is taken, and what it reports is read', async () => {
  const email = await emailIn('sent', own);
  const headers = ['Subject: Large', '', ...Array<string>(400_000).fill('x'.repeat(74))];
  const raw = statusReport({ headers });
  expect(raw.length).toBeGreaterThan(30_000_000);
  expect((await sendMail(port, email.returnPath, raw)).at(-1)).toMatch(/^250 /);
  expect(await email.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
});

// Shows A57
test('html that takes other parsers minutes is not looked at, and other sessions go on', async () => {
  const [hostile, email] = [await emailIn('sent', own), await emailIn('sent', own)];
  const html = `<a ${'href='.repeat(3_000)}`;
  const raw = Buffer.from(
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b--\r\n`,
  );
  const [answers, others] = await Promise.all([
    sendMail(port, 'fbl@bounce.example.org', raw),
    sendMail(port, email.returnPath, statusReport()),
  ]);
  expect(answers.at(-1)).toMatch(/^550 5\.6\.0 /);
  expect(others.at(-1)).toMatch(/^250 /);
  // The same HTML inside a report is ignored.
  const report = statusReport({ headers: [`Subject: x`, '', html] }).toString();
  const inHtml = report.replace('text/plain; charset=us-ascii', `text/html\r\n\r\n${html}`);
  expect((await sendMail(port, hostile.returnPath, Buffer.from(inHtml))).at(-1)).toMatch(/^250 /);
  expect(await hostile.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
});

// Shows A57
test('what cannot be read within its limits is refused for good, and says why, at any address', async () => {
  changeSettings({ FBL_REPORTERS: ['loop.example'], DNS_SERVERS: [(await keyServer()).address] });
  const email = await emailIn('delivered', own);
  const parts = statusReport().toString().replace('--==report==--', '--==report==\r\n\r\nx\r\n'.repeat(200));
  expect((await sendMail(port, email.returnPath, Buffer.from(parts))).at(-1)).toBe(
    '554 5.6.0 The message has more than 100 parts.',
  );
  const complaint = feedbackReport({ headers: [`Message-ID: <${email.id}@any.example>`] });
  const slow = slowToVerify('loop.example', complaint);
  expect((await sendMail(port, 'fbl@bounce.example.org', slow)).at(-1)).toBe(
    '554 5.6.0 The message takes longer than 0.3 s to read.',
  );
  expect(await email.state()).toEqual(['delivered', null]);
});

const keyServer = () => startDnsServer(() => ({ texts: ['v=DKIM1; p=AAAA'] }));

test('a message larger than any that we send is refused before it comes', async () => {
  const client = await connectSmtp(port);
  await client.reply();
  await client.say('EHLO relay.example');
  expect(await client.say('MAIL FROM:<> SIZE=70000000')).toMatch(/^552 /);
});

test('one that hides its size is read to its end, and of it no more is held than its beginning', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  async function* pieces(count: number) {
    for (let index = 0; index < count; index += 1) yield piece;
  }
  expect((await headOf(pieces(60)))?.length).toBe(256 * 1024);
  expect(await headOf(pieces(65))).toBeNull();
});

test('while MySQL is away the report is to come again, and then it is applied', async () => {
  const email = await emailIn('sent', own);
  const proxy = await startTcpProxy(process.env['MYSQL_URL']!, 3306);
  const inbound = await startInboundProcess({ MYSQL_URL: proxy.url });
  proxy.refuse();
  const answer = (await sendMail(inbound.port, email.returnPath, statusReport())).at(-1);
  expect(answer, inbound.output()).toMatch(/^451 /);
  expect(await email.state()).toEqual(['sent', null]);
  await proxy.pass();
  await waitFor('it is taken', async () =>
    (await sendMail(inbound.port, email.returnPath, statusReport())).at(-1)!.startsWith('250'),
  );
  expect(await email.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
});

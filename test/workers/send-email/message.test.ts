import { dkimVerify } from 'mailauth';
import PostalMime from 'postal-mime';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});

let recipients = 0;
/** Sends an email with these changes; returns the message that the relay gets. */
async function sent(changes: Record<string, unknown>) {
  recipients += 1;
  const recipient = `message-${recipients}@example.com`;
  const email = await acceptEmail(own, { recipient, ...changes });
  const record = await email.read();
  if (record.scheduledAt) await advanceClockTo(record.scheduledAt);
  expect(await attempt(email.id)).toBe('done');
  const { raw, envelope } = sink.messages.find((message) => message.envelope.to.includes(recipient))!;
  return { record, raw, envelope, recipient, parsed: await PostalMime.parse(raw) };
}

/** Checks the DKIM signature as a receiver does, with the key that the domain's DNS would serve. */
async function verify(raw: Buffer) {
  const domain = (await emailDomains.findByName(own.workspaceId, own.domain))!;
  const { results } = await dkimVerify(raw, {
    curTime: now(),
    resolver: async (name: string, type: string) => {
      expect([name, type]).toEqual([`${domain.dkimSelector}._domainkey.${domain.name}`, 'TXT']);
      return [[domain.dkimPublicKey]];
    },
  });
  return results;
}

test('the name of a recipient goes into To and nowhere else', async () => {
  const address = 'named@example.com';
  const email = await acceptEmail(own, { recipient: `"Ünn, A." <${address}>` });
  expect(await attempt(email.id)).toBe('done');
  const { raw, envelope } = sink.messages.find((message) => message.envelope.to.includes(address))!;
  const parsed = await PostalMime.parse(raw);
  expect([envelope.to, parsed.to]).toEqual([[address], [{ address, name: 'Ünn, A.' }]]);
  const record = await email.read();
  expect([record.recipient, record.recipientKey]).toEqual([`"Ünn, A." <${address}>`, address]);
});

test('a receiver reads what was sent: both parts, subject, sender, recipient, id and date', async () => {
  const subject = 'Grüße 🙂 '.repeat(20).trim();
  const html = `<p>Ünïcödé &amp; ${'long '.repeat(400)}</p>\r\n<p>.</p>\n.\n`;
  const text = 'Zeile 1\n.\n..\nFrom here\n--\nÜ 🙂\ttab  \nend';
  const { parsed, record, envelope, recipient } = await sent({
    sender: `"Ünï, Inc." <${own.sender}>`,
    subject,
    content: { html, text },
  });
  const lines = (value: string) => value.replaceAll('\r\n', '\n').trimEnd();
  expect(parsed.subject).toBe(subject);
  expect(lines(parsed.html!)).toBe(lines(html));
  expect(lines(parsed.text!)).toBe(lines(text));
  expect(parsed.from).toMatchObject({ name: 'Ünï, Inc.', address: own.sender });
  expect(parsed.to).toMatchObject([{ address: recipient }]);
  expect(parsed.messageId).toBe(`<${record.id}@${own.domain}>`);
  expect(Date.parse(parsed.date!)).toBe(Math.floor(record.createdAt.getTime() / 1000) * 1000);
  expect(envelope).toEqual({ from: own.sender, to: [recipient] });
});

test.each([
  ['text alone', { text: 'Only text' }, 'text/plain'],
  ['html alone', { html: '<p>Only html</p>' }, 'text/html'],
])('%s is one part', async (_which, content, type) => {
  const { parsed } = await sent({ content });
  const header = parsed.headers.find(({ key }) => key === 'content-type')!.value;
  expect(header).toContain(type);
});

test('the date of a scheduled email is the time that it was scheduled for', async () => {
  const scheduledAt = new Date(Math.floor(now().getTime() / 1000) * 1000 + 600_000);
  const { parsed } = await sent({ scheduledAt: scheduledAt.toISOString() });
  expect(Date.parse(parsed.date!)).toBe(scheduledAt.getTime());
});

test('the DKIM signature of the sending domain verifies', async () => {
  const { raw } = await sent({
    subject: 'Signed – Ü',
    content: { html: '<p>Ü</p>', text: 'x '.repeat(600) },
  });
  const results = await verify(raw);
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({
    signingDomain: own.domain,
    status: { result: 'pass', aligned: own.domain },
  });
});

test('what somebody changes on the way no longer verifies', async () => {
  const { raw } = await sent({ subject: 'Pay Ada', content: { text: 'Pay Ada' } });
  for (const [from, to] of [
    ['Subject: Pay Ada', 'Subject: Pay Eve'],
    ['\r\n\r\nPay Ada', '\r\n\r\nPay Eve'],
    ['\r\nFrom: ', '\r\nFrom: eve@evil.example\r\nFrom: '],
    ['\r\nTo: ', '\r\nTo: eve@evil.example\r\nX: '],
  ] as const) {
    const changed = Buffer.from(raw.toString('latin1').replace(from, to), 'latin1');
    expect(changed.equals(raw)).toBe(false);
    const [result] = await verify(changed);
    expect([from, result!.status.result]).not.toEqual([from, 'pass']);
  }
});

// Shows A29
test('a subject built from data cannot add a header or a recipient', async () => {
  const { parsed, envelope, raw } = await sent({
    subject: '{{ name }}',
    template: { data: { name: '=?utf-8?q?x?= Bcc: eve@evil.example' } },
  });
  expect(parsed.subject).toBe('=?utf-8?q?x?= Bcc: eve@evil.example');
  expect(envelope.to).toHaveLength(1);
  expect(raw.toString()).not.toMatch(/^Bcc:/im);
});

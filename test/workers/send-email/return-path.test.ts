import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { readReturnPath } from '../../../shared/domain/email/mail-reports/return-path.ts';
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

async function envelopeOf(from = own) {
  sink.setMode('accept');
  const email = await acceptEmail(from);
  await attempt(email.id);
  const message = () => sink.messages.at(-1)!;
  return { email, from: () => message().envelope.from, raw: () => message().raw, message };
}

test('without a domain for return paths bounces go to the sender, whom no success report bothers', async () => {
  changeSettings({ RETURN_PATH_DOMAIN: undefined });
  const { from, message } = await envelopeOf();
  expect(from()).toBe(own.sender);
  expect(message().parameters).not.toHaveProperty('NOTIFY');
});

test('reports come to the domain for return paths, and name the email that they are about', async () => {
  changeSettings({ RETURN_PATH_DOMAIN: 'bounces.example.org' });
  const { email, from, raw } = await envelopeOf();
  expect(from()).toMatch(/^bounce\+[0-9a-z]{52}@bounces\.example\.org$/);
  expect(readReturnPath(from())).toBe(email.id);
  // The recipient sees the sender, and not the return path.
  expect(raw().toString()).toContain(`\r\nFrom: ${own.sender}\r\n`);
  expect(raw().toString()).not.toContain('bounce+');
});

test('every attempt has the same return path', async () => {
  changeSettings({ RETURN_PATH_DOMAIN: 'bounces.example.org' });
  sink.setMode('451 after the dot');
  const email = await acceptEmail(own);
  const before = sink.messages.length;
  await attempt(email.id);
  sink.setMode('accept');
  await advanceClockTo((await email.read()).dueAt!);
  await attempt(email.id);
  const [first, second] = sink.messages.slice(before);
  expect(second!.envelope.from).toBe(first!.envelope.from);
});

test('a sending domain with a return path of its own, once that is verified, has its reports there', async () => {
  changeSettings({ RETURN_PATH_DOMAIN: 'bounces.example.org' });
  const theirs = await workspace();
  const seen = { return_path: { value: 'bounces.example.org', status: 'verified', error: null } };
  await query('UPDATE email_domains SET checks = ? WHERE name = ?', [
    JSON.stringify(seen),
    Buffer.from(theirs.domain),
  ]);
  const { email, from } = await envelopeOf(theirs);
  expect(from()).toMatch(new RegExp(`@bounce\\.${theirs.domain}$`));
  expect(readReturnPath(from())).toBe(email.id);
});

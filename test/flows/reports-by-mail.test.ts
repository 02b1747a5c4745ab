// @slow: it starts a Postfix and processes of the platform.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listSuppressions } from '../../shared/db/suppressions.ts';
import { makeReturnPath } from '../../shared/domain/email/mail-reports/return-path.ts';
import { startInbound } from '../../workers/inbound/server.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { workspace } from '../support/data/factory.ts';
import { feedbackReport, statusReport } from '../support/data/mail-reports.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { startPlayer } from '../support/servers/relays/player.ts';
import { lookForPostfix, startPostfix } from '../support/servers/relays/postfix.ts';
import type { Relay, Routes } from '../support/servers/relays/relay.ts';
import { sendMail } from '../support/servers/smtp-client.ts';
import { type SmtpMode, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const returnPathDomain = 'bounce.example.org';

/** How the recipients' server answers; `box.example` is a mailbox on the relay itself. */
const recipients: Record<string, SmtpMode> = {
  'taken@example.com': 'accept',
  'unknown@example.com': '550 at RCPT',
  'policy@example.com': '550 5.7.1 at RCPT',
  'content@example.com': '554 after the dot',
  'full@example.com': '450 at RCPT',
};

const postfix = await lookForPostfix();
const relays: [name: string, start: (routes: Routes) => Promise<Relay>][] = [
  ['a relay that is played', startPlayer],
  ...(typeof postfix === 'string'
    ? []
    : ([[`Postfix ${postfix.version}`, (routes) => startPostfix(postfix, routes)]] as typeof relays)),
];

const settings = { RETURN_PATH_DOMAIN: returnPathDomain, EMAIL_DELIVERED_ON: 'dsn' } as const;
let inbound: Awaited<ReturnType<typeof startInbound>>;
beforeAll(async () => {
  changeSettings(settings);
  inbound = await startInbound({ port: 0, address: '127.0.0.1' });
  atEnd(() => inbound.stop(5_000));
});

test.for(typeof postfix === 'string' ? [postfix] : [])('mail behind Postfix', (reason, { skip }) =>
  skip(reason),
);

describe.each(relays)('what happens to mail behind %s comes back as reports', (_name, start) => {
  let own: Awaited<ReturnType<typeof workspace>>;
  let relay: Relay;
  let workers: Awaited<ReturnType<typeof runWorkers>>;
  const emails: Record<string, Awaited<ReturnType<typeof acceptEmail>>> = {};

  beforeAll(async () => {
    const sink = await startSmtpSink();
    sink.setMode((recipient) => recipients[recipient] ?? 'accept');
    relay = await start({
      'example.com': sink.port,
      'box.example': 'mailbox',
      [returnPathDomain]: inbound.port,
    });
    own = await workspace();
    const all = [...Object.keys(recipients), 'ada@box.example', 'late@box.example', 'angry@box.example'];
    for (const recipient of all) emails[recipient] = await acceptEmail(own, { recipient });
    changeSettings({ ...settings, SMTP_URL: `smtp://127.0.0.1:${relay.port}` });
    workers = await runWorkers(['send-email', 'sweep']);
  });

  // The workers would send later emails by way of this relay.
  afterAll(() => workers.stop());

  async function waitUntil(description: string, ask: () => unknown): Promise<void> {
    try {
      await waitFor(description, ask);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${relay.log()}`, { cause: error });
    }
  }

  async function becomes(recipient: string, state: string, types: string[]): Promise<void> {
    const email = emails[recipient]!;
    await waitUntil(`${recipient} is ${state}`, async () => {
      const { status, reason } = await email.read();
      return state === (reason ? `${status} ${reason.category} ${reason.code}` : status);
    });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent', ...types]);
  }

  async function suppressed(emailKey: string): Promise<string[]> {
    const { records } = await listSuppressions(own.workspaceId, { emailKey }, { limit: 10, before: null });
    return records.map(({ source }) => source);
  }

  test('a mailbox that does not exist is a hard bounce, and suppressed', async () => {
    await becomes('unknown@example.com', 'failed hard_bounce mailbox_unknown', ['email.bounced']);
    expect(await suppressed('unknown@example.com')).toEqual(['bounce']);
  });

  test('a refusal by policy is no bounce and suppresses nobody', async () => {
    await becomes('policy@example.com', 'failed rejected refused_by_policy', ['email.failed']);
    expect(await suppressed('policy@example.com')).toEqual([]);
  });

  test('a refusal after the message is no bounce either', async () => {
    await becomes('content@example.com', 'failed rejected content_refused', ['email.failed']);
    expect(await suppressed('content@example.com')).toEqual([]);
  });

  test('what waits is told to be late once, and is a soft bounce when the relay gives up', async () => {
    await becomes('full@example.com', 'failed soft_bounce temporarily_refused', [
      'email.delayed',
      'email.bounced',
    ]);
    expect(await suppressed('full@example.com')).toEqual([]);
  });

  test('mail in the mailbox is delivered', async () => {
    await becomes('ada@box.example', 'delivered', ['email.delivered']);
  });

  test('mail that another server took without a promise of reports is delivered', async () => {
    await becomes('taken@example.com', 'delivered', ['email.delivered']);
  });

  test('a bounce after the delivery still counts', async () => {
    const recipient = 'late@box.example';
    await becomes(recipient, 'delivered', ['email.delivered']);
    const report = statusReport({ recipient });
    await sendMail(relay.port, makeReturnPath(emails[recipient]!.id, returnPathDomain), report);
    await becomes(recipient, 'failed hard_bounce mailbox_unknown', ['email.delivered', 'email.bounced']);
    expect(await suppressed(recipient)).toEqual(['bounce']);
  });

  test('a complaint leaves it delivered, and suppresses', async () => {
    const recipient = 'angry@box.example';
    await becomes(recipient, 'delivered', ['email.delivered']);
    const headers = [`Message-ID: <${emails[recipient]!.id}@${own.domain}>`, `To: ${recipient}`];
    await sendMail(relay.port, `fbl@${returnPathDomain}`, feedbackReport({ headers }), 'fbl@example.com');
    await becomes(recipient, 'delivered complaint abuse', ['email.delivered', 'email.complained']);
    expect(await suppressed(recipient)).toEqual(['complaint']);
  });
});

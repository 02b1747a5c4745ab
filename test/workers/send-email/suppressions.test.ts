import { beforeAll, expect, test } from 'vitest';
import { transaction } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as suppressions from '../../../shared/domain/suppressions.ts';
import type { SuppressionScope, SuppressionSource } from '../../../shared/schemas/suppressions.ts';
import { acceptEmail, eventsOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let count = 0;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});

async function suppress(
  workspaceId: string,
  email: string,
  { scope = 'all', source = 'api' }: { scope?: SuppressionScope; source?: SuppressionSource } = {},
) {
  const entry = { number: null, email, emailKey: email.toLowerCase(), scope };
  await transaction(() => suppressions.add(workspaceId, entry, source, null));
}

type Case = {
  kind: 'transactional' | 'marketing' | 'authentication';
  scope: SuppressionScope;
  source: SuppressionSource;
  bypassSuppressions: boolean;
  sent: boolean;
};
const cases: Case[] = (['transactional', 'marketing', 'authentication'] as const).flatMap((kind) =>
  (['all', 'marketing'] as const).flatMap((scope) =>
    (['api', 'web', 'complaint', 'bounce', 'system'] as const).flatMap((source) =>
      [false, true].map((bypassSuppressions) => {
        const applies = scope === 'all' || kind === 'marketing';
        const isFirm = kind === 'marketing' && ['web', 'complaint', 'bounce'].includes(source);
        return { kind, scope, source, bypassSuppressions, sent: !applies || (bypassSuppressions && !isFirm) };
      }),
    ),
  ),
);

// Shows A53
test.each(cases)(
  '$kind, suppressed for $scope by $source, bypass $bypassSuppressions: sent is $sent',
  async ({ kind, scope, source, bypassSuppressions, sent }) => {
    const recipient = `person-${(count += 1)}@example.com`;
    await suppress(own.workspaceId, recipient, { scope, source });
    const email = await acceptEmail(own, { recipient, kind, bypassSuppressions });
    await attempt(email.id);
    const record = await email.read();
    expect(record.status).toBe(sent ? 'sent' : 'failed');
    expect(sink.messages.some(({ envelope }) => envelope.to.includes(recipient))).toBe(sent);
  },
);

test('a suppressed email fails before any SMTP, says why, and tells of it', async () => {
  const recipient = 'Someone@Example.com';
  await suppress(own.workspaceId, recipient.toLowerCase());
  const email = await acceptEmail(own, { recipient });
  await attempt(email.id);
  expect(await email.read()).toMatchObject({
    status: 'failed',
    sentAt: null,
    dueAt: null,
    reason: { category: 'suppressed', code: 'recipient_suppressed', retryable: false },
  });
  expect((await eventsOf(own, email.id)).map(({ type }) => type)).toEqual(['email.queued', 'email.failed']);
});

test('an entry of another workspace stops nobody else, and a removed one nobody', async () => {
  const other = await workspace();
  const recipient = 'shared@example.com';
  await suppress(other.workspaceId, recipient);
  const email = await acceptEmail(own, { recipient });
  await attempt(email.id);
  expect((await email.read()).status).toBe('sent');
});

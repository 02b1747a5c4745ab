import { expect, test } from 'vitest';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { advanceEmail, complainOf, countAll, emailAt } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

const at = new Date('2026-07-01T10:00:00Z');

test('what became of emails is told by domain, with the share of each', async () => {
  // The date that is fixed here must not be too old to be counted.
  changeSettings({ EMAIL_RETENTION_DAYS: 9_000 });
  const api = await startApi();
  const own = await workspace();
  const sentTo = async (domain: string) =>
    advanceEmail(await emailAt(own, at, { recipient: `ada@${domain}` }), 'sent', { at });
  const fail = async (domain: string, category: 'hard_bounce' | 'soft_bounce') =>
    advanceEmail(await sentTo(domain), 'failed', {
      at,
      reason: { category, code: 'x', description: null, retryable: false },
    });
  const arrived = [];
  for (let index = 0; index < 3; index += 1)
    arrived.push(await advanceEmail(await sentTo('one.example'), 'delivered', { at }));
  await complainOf(arrived[0]!, at);
  await fail('one.example', 'hard_bounce');
  await fail('one.example', 'soft_bounce');
  await fail('one.example', 'soft_bounce');
  await advanceEmail(await sentTo('two.example'), 'delivered', { at });
  await countAll();
  const { body } = await api.request(
    'GET',
    '/v2/reports/email-deliverability?from=2026-07-01&to=2026-07-02',
    {
      key: own.key,
    },
  );
  const none = { rejected: 0, suppressed: 0, opened: 0 };
  const shares = (deliveredRate: string, bounceRate: string, complaintRate: string) => ({
    deliveredRate,
    bounceRate,
    complaintRate,
  });
  expect(body.data).toEqual([
    {
      by: 'recipientDomain',
      domain: 'one.example',
      accepted: 6,
      delivered: 3,
      hardBounces: 1,
      softBounces: 2,
      complaints: 1,
      ...none,
      ...shares('0.5000', '0.5000', '0.3333'),
    },
    {
      by: 'recipientDomain',
      domain: 'two.example',
      accepted: 1,
      delivered: 1,
      hardBounces: 0,
      softBounces: 0,
      complaints: 0,
      ...none,
      ...shares('1.0000', '0.0000', '0.0000'),
    },
    {
      by: 'sendingDomain',
      domain: own.domain,
      accepted: 7,
      delivered: 4,
      hardBounces: 1,
      softBounces: 2,
      complaints: 1,
      ...none,
      ...shares('0.5714', '0.4286', '0.2500'),
    },
  ]);
});

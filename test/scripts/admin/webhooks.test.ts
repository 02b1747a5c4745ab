import { beforeAll, expect, test } from 'vitest';
import { findWorkspace } from '../../../shared/db/workspace/workspaces.ts';
import { makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

const url = 'https://example.com/v1';

test('the operator makes legacy webhooks, whose secret is shown once, and lists all webhooks', async () => {
  const v2 = await makeWebhook(own, 'https://example.com/v2', ['email.sent', 'email.bounced']);
  const made = await admin(
    'webhook',
    'create-legacy',
    own.workspaceId,
    url,
    '--events',
    'delivery_receipt,inbound',
  );
  expect(made).toMatchObject({
    code: 0,
    printed: {
      id: expect.stringMatching(/^webhook_/),
      url,
      events: ['delivery_receipt', 'inbound'],
      apiVersion: null,
      secret: expect.stringMatching(/^whsec_/),
    },
  });
  const listed = await admin('webhook', 'list', own.workspaceId);
  const common = { state: 'active', failingSince: null };
  expect(listed.printed).toEqual([
    { id: made.printed.id, url, version: 'legacy', events: 'delivery_receipt,inbound', ...common },
    { id: v2.id, url: v2.url, version: '2026-11-01', events: 'email.sent,email.bounced', ...common },
  ]);
});

test('a legacy webhook that may not be is refused with the reason', async () => {
  const make = (...args: string[]) => admin('webhook', 'create-legacy', own.workspaceId, ...args);
  const [event, number, address] = await Promise.all([
    make(url, '--events', 'sms.delivered'),
    make(url, '--events', 'inbound', '--inbound-number', '+4407700900123'),
    make('http://10.0.0.1/', '--events', 'delivery_receipt', '--inbound-number', '+447700900123'),
  ]);
  expect(event).toEqual({
    code: 2,
    printed: expect.stringContaining('one or more of delivery_receipt, inbound'),
  });
  expect(number).toEqual({
    code: 2,
    printed: expect.stringContaining('must be in E.164 format: +447700900123'),
  });
  expect(address).toEqual({
    code: 1,
    printed: 'url must not point to a private address\ninboundNumber is allowed only with events ["inbound"]',
  });
});

test('a workspace is changed in what is given', async () => {
  const { workspaceId } = await workspace();
  const set = async (...args: string[]) => (await admin('workspace', 'set', workspaceId, ...args)).printed;
  expect(await set('--webhooks', 'off', '--alert-email', 'ops@example.com')).toMatchObject({
    webhooks: 'off',
    sending: 'on',
    alertEmail: 'ops@example.com',
  });
  expect(await findWorkspace(workspaceId)).toMatchObject({
    webhooksEnabled: false,
    sendingBlocked: false,
    alertEmail: 'ops@example.com',
  });
  expect(await set('--sending', 'off', '--alert-email', 'none')).toMatchObject({
    webhooks: 'off',
    sending: 'off',
    alertEmail: null,
  });
  const refused = await Promise.all([set('--alert-email', 'nobody'), set('--webhooks', 'maybe')]);
  expect(refused).toEqual([expect.stringContaining('alertEmail'), expect.stringContaining('on, off')]);
});

test('an address for warnings that has no room is refused by its name, for a new workspace too', async () => {
  const { workspaceId } = await workspace();
  // In punycode it is short enough for an email; as it was typed it has 444 bytes.
  const long = `a@${Array.from({ length: 3 }, () => '例'.repeat(48)).join('.')}.example`;
  for (const address of ['nobody', long])
    for (const args of [
      ['create', 'Acme'],
      ['set', workspaceId],
    ])
      expect(await admin('workspace', ...args, '--alert-email', address)).toEqual({
        code: 1,
        printed: expect.stringMatching(/^alertEmail must/),
      });
});

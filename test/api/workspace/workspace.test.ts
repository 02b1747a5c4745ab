import { beforeAll, expect, test } from 'vitest';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const get = async ({ key }: { key: string }) =>
  (await api.request('GET', '/v2/workspace', { key })).body as Record<string, unknown>;

test('a new workspace has no balance, no limit, no sender and no fixed addresses', async () => {
  changeSettings({
    WEBHOOK_LOCAL_ADDRESS: undefined,
    WEBHOOK_PUBLIC_ADDRESSES: [],
    SMS_MAX_PARTS: 7,
    EVENT_RETENTION_DAYS: 7,
    EMAIL_RETENTION_DAYS: 30,
    SMS_RETENTION_DAYS: 31,
  });
  const own = await workspace();
  expect(await get(own)).toEqual({
    id: own.workspaceId,
    name: 'Tests',
    country: 'GB',
    createdAt: expect.stringMatching(/^20.*Z$/),
    sendingBlocked: false,
    v2WebhooksEnabled: true,
    alertEmail: null,
    defaultSender: null,
    balance: null,
    emailLimit: null,
    smsPartsAtMost: 7,
    retention: { eventsDays: 7, emailDays: 30, smsDays: 31 },
    webhookAddresses: [],
  });
});

test('what the operator sets is read at once', async () => {
  changeSettings({ WEBHOOK_LOCAL_ADDRESS: '10.0.0.7', WEBHOOK_PUBLIC_ADDRESSES: [] });
  const own = await workspace();
  const sender = await senders.addApproved(own.workspaceId, 'Acme');
  await balance.add(own.workspaceId, 12_345, null);
  await workspaces.change(own.workspaceId, {
    alertEmail: 'ops@example.com',
    sendingBlocked: true,
    webhooksEnabled: false,
    emailsPerMinute: 10,
    emailsPerDay: 1_000,
  });
  expect(await get(own)).toMatchObject({
    sendingBlocked: true,
    v2WebhooksEnabled: false,
    alertEmail: 'ops@example.com',
    defaultSender: { id: sender.id, name: 'Acme' },
    balance: { gbp: '1.2345' },
    // 1,000 a day are fewer than 10 a minute.
    emailLimit: { count: 1_000, per: 'day' },
    webhookAddresses: ['10.0.0.7'],
  });
  changeSettings({ WEBHOOK_PUBLIC_ADDRESSES: ['192.0.2.7', '2001:db8::7'] });
  expect(await get(own)).toMatchObject({ webhookAddresses: ['192.0.2.7', '2001:db8::7'] });
});

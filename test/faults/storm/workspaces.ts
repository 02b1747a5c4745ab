import * as keysDb from '../../../shared/db/api-keys/api-keys.ts';
import { transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import * as emailTemplates from '../../../shared/domain/email/templates.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as smsBalance from '../../../shared/domain/sms/balance.ts';
import * as smsPrices from '../../../shared/domain/sms/prices.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import type { EventType } from '../../../shared/schemas/events.ts';
import { NewWebhook } from '../../../shared/schemas/webhooks/webhooks.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import type { Manner, Receivers } from './receivers.ts';

export type Endpoint = { webhookId: string; manner: Manner; isLegacy: boolean; types: readonly EventType[] };

export type Customer = {
  index: number;
  workspaceId: string;
  sender: string;
  domain: string;
  /** The unlimited key; `limited` has one that may send `dailyParts` parts of text a day. */
  key: string;
  keyId: string;
  limited: { key: string; keyId: string; dailyParts: number };
  endpoints: Endpoint[];
  /** A bystander owns the same things as the other customers, and never does anything. */
  isBystander: boolean;
};

export const templateName = 'receipt';
const senderName = 'Acme';

const every: readonly EventType[] = [
  'email.queued',
  'email.sent',
  'email.delivered',
  'email.delayed',
  'email.bounced',
  'email.failed',
  'email.cancelled',
  'sms.queued',
  'sms.sent',
  'sms.delivered',
  'sms.failed',
  'sms.cancelled',
  'sms.held',
  'sms.received',
  'suppression.created',
];
const receipts: readonly EventType[] = ['sms.delivered', 'sms.failed', 'sms.cancelled'];

/** In ten-thousandths of a pound: no balance, one that lasts, two that run out so that texts are held. */
const balances = [null, 10_000_000_000, 40_000, 10_000];
const dailyParts = 60;

/** Makes three customers who send, and a bystander. */
export async function makeCustomers(receivers: Receivers): Promise<Customer[]> {
  await smsPrices.load('country,gbp,eur,validFrom\nGB,0.0400,0.0500,2020-01-01\n');
  const customers: Customer[] = [];
  for (const [index, balance] of balances.entries())
    customers.push(await makeCustomer(index, balance, receivers));
  return customers;
}

async function makeCustomer(index: number, balance: number | null, receivers: Receivers): Promise<Customer> {
  const own = await workspace();
  const { workspaceId } = own;
  await senders.addApproved(workspaceId, senderName);
  if (balance !== null) await smsBalance.add(workspaceId, balance, null);
  const limited = await apiKeys.issue(workspaceId);
  await keysDb.updateApiKey(workspaceId, { ...limited.record, dailyParts });
  const caller = callerOf(own);
  const template = await emailTemplates.prepareNew(caller, {
    name: templateName,
    html: '<p>Dear {{ name }}, this is {{ reference }}.</p>',
    text: 'Dear {{ name }}, this is {{ reference }}.',
  });
  await transaction(() => emailTemplates.create(caller, template));

  const endpoints: Endpoint[] = [];
  const isBystander = index === balances.length - 1;
  const open = async (manner: Manner, types: readonly EventType[], isLegacy = false) => {
    const webhookId = await receivers.open(manner, async (url) => {
      const made = isLegacy
        ? await webhooks.createLegacy(workspaceId, { url, events: ['delivery_receipt'] })
        : await transaction(() =>
            webhooks.create(caller, NewWebhook.parse({ url, events: [...types], autoDisableExempt: true })),
          );
      return { webhookId: made.id, secret: made.secret!, isLegacy };
    });
    endpoints.push({ webhookId, manner, types, isLegacy });
  };
  await open('healthy', every);
  if (!isBystander) {
    await open('failing', ['email.sent', 'sms.sent', 'email.cancelled']);
    await open('hanging', ['email.delivered', 'email.failed']);
  }
  await open('healthy', receipts, true);
  return {
    index,
    workspaceId,
    sender: own.sender,
    domain: own.domain,
    key: own.key,
    keyId: own.keyId,
    limited: { key: limited.key, keyId: limited.record.id, dailyParts },
    endpoints,
    isBystander,
  };
}

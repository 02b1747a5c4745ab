import { config } from '../../config.ts';
import { findDefaultSender } from '../../db/senders.ts';
import type { WorkspaceRecord } from '../../db/workspaces.ts';
import { problem } from '../../errors.ts';
import { moneyText } from '../../formats/money.ts';
import type { Workspace } from '../../schemas/workspace.ts';
import * as smsBalance from '../sms-balance.ts';
import * as workspaces from '../workspaces.ts';

/** The workspace as its keys see it. */
export async function find(workspaceId: string): Promise<Workspace> {
  const [workspace, sender, balance] = await Promise.all([
    workspaces.find(workspaceId),
    findDefaultSender(workspaceId),
    smsBalance.find(workspaceId),
  ]);
  if (!workspace) throw problem('not_found');
  return {
    id: workspace.id,
    name: workspace.name,
    country: workspace.country,
    createdAt: workspace.createdAt.toISOString(),
    sendingBlocked: workspace.sendingBlocked,
    v2WebhooksEnabled: workspace.webhooksEnabled,
    alertEmail: workspace.alertEmail,
    defaultSender: sender && { id: sender.id, name: sender.name! },
    balance: balance === null ? null : { gbp: moneyText(balance) },
    emailLimit: emailLimitOf(workspace),
    smsPartsAtMost: config.SMS_MAX_PARTS,
    retention: {
      eventsDays: config.EVENT_RETENTION_DAYS,
      emailDays: config.EMAIL_RETENTION_DAYS,
      smsDays: config.SMS_RETENTION_DAYS,
    },
    webhookAddresses: webhookAddresses(),
  };
}

const minutesOf = { minute: 1, hour: 60, day: 1_440 };

/** Of several limits the one that lets the fewest out in the long run. */
function emailLimitOf(workspace: WorkspaceRecord): Workspace['emailLimit'] {
  const limits = [
    { count: workspace.emailsPerMinute, per: 'minute' as const },
    { count: workspace.emailsPerHour, per: 'hour' as const },
    { count: workspace.emailsPerDay, per: 'day' as const },
  ].flatMap(({ count, per }) => (count === null ? [] : [{ count, per }]));
  const rateOf = ({ count, per }: (typeof limits)[number]) => count / minutesOf[per];
  return limits.toSorted((one, other) => rateOf(one) - rateOf(other))[0] ?? null;
}

function webhookAddresses(): string[] {
  const { WEBHOOK_PUBLIC_ADDRESSES: shown, WEBHOOK_LOCAL_ADDRESS: local } = config;
  if (shown.length > 0) return shown;
  return local === undefined ? [] : [local];
}

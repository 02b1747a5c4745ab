import { orNotFound } from '../../common/errors.ts';
import { config } from '../../config/config.ts';
import { findDefaultSender } from '../../db/senders/senders.ts';
import { findSmsBalance } from '../../db/sms/balances.ts';
import type { WorkspaceRecord } from '../../db/workspace/workspaces.ts';
import { findWorkspace } from '../../db/workspace/workspaces.ts';
import { moneyText } from '../../formats/money.ts';
import type { Workspace } from '../../schemas/workspace.ts';

/** The workspace as its customer and its operator read it. */
export async function show({ workspaceId }: { workspaceId: string }): Promise<Workspace> {
  const workspace = orNotFound(await findWorkspace(workspaceId), 'There is no such workspace.');
  const sender = await findDefaultSender(workspaceId);
  const balance = await findSmsBalance(workspaceId);
  const { id, name, country, createdAt, sendingBlocked, webhooksEnabled, alertEmail } = workspace;
  return {
    id,
    name,
    country,
    createdAt: createdAt.toISOString(),
    sendingBlocked,
    v2WebhooksEnabled: webhooksEnabled,
    alertEmail,
    defaultSender: sender && { id: sender.id, name: sender.name },
    balance: balance === null ? null : { gbp: moneyText(balance) },
    emailLimit: strictest(workspace),
    smsPartsAtMost: config.SMS_MAX_PARTS,
    retention: {
      eventsDays: config.EVENT_RETENTION_DAYS,
      emailDays: config.EMAIL_RETENTION_DAYS,
      smsDays: config.SMS_RETENTION_DAYS,
    },
    webhookAddresses: webhookAddresses(),
  };
}

/** Returns the limit that lets the fewest emails go in the long run. */
function strictest({
  emailsPerMinute,
  emailsPerHour,
  emailsPerDay,
}: WorkspaceRecord): Workspace['emailLimit'] {
  const limits = [
    { count: emailsPerMinute, per: 'minute' as const, aDay: 1440 },
    { count: emailsPerHour, per: 'hour' as const, aDay: 24 },
    { count: emailsPerDay, per: 'day' as const, aDay: 1 },
  ].flatMap(({ count, per, aDay }) => (count === null ? [] : [{ count, per, ofDay: count * aDay }]));
  const [first] = limits.toSorted((one, other) => one.ofDay - other.ofDay);
  return first ? { count: first.count, per: first.per } : null;
}

function webhookAddresses(): string[] {
  if (config.WEBHOOK_PUBLIC_ADDRESSES.length > 0) return config.WEBHOOK_PUBLIC_ADDRESSES;
  return config.WEBHOOK_LOCAL_ADDRESS ? [config.WEBHOOK_LOCAL_ADDRESS] : [];
}

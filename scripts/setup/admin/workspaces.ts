import { type Command, InvalidArgumentError, Option } from 'commander';
import * as reports from '../../../shared/domain/reports/reports.ts';
import * as optOut from '../../../shared/domain/sms/opt-out.ts';
import * as waiting from '../../../shared/domain/work/waiting.ts';
import * as workspaceRecord from '../../../shared/domain/workspace/workspace.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import type { Tools } from './tools.ts';

type Limit = number | 'none';
type WorkspaceOptions = {
  alertEmail?: string;
  webhooks?: string;
  sending?: string;
  emailsPerMinute?: Limit;
  emailsPerHour?: Limit;
  emailsPerDay?: Limit;
  stopReply?: string;
  stopWords?: string;
  startWords?: string;
};

/** The operator's commands about customers. */
export function addWorkspaceCommands(program: Command, { print, workspaceOf }: Tools): void {
  const workspace = program.command('workspace').description('customers');
  workspace
    .command('create <name>')
    .description('make a workspace')
    .option('--country <code>', 'ISO 3166-1 alpha-2', 'GB')
    .option('--alert-email <address>', 'where warnings about webhooks go')
    .action(async (name: string, options: { country: string; alertEmail?: string }) => {
      const { id, country } = await workspaces.create({
        name,
        country: options.country,
        alertEmail: options.alertEmail ?? null,
      });
      print({ id, name, country });
    });
  workspace
    .command('list')
    .description('all workspaces, oldest first')
    .action(async () => {
      const all = await workspaces.listAll();
      print(all.map(({ id, name, createdAt }) => ({ id, name, createdAt: createdAt.toISOString() })));
    });
  workspace
    .command('show <workspaceId>')
    .description(
      'its settings and balance, what it spends this month, and how much it has waiting to be sent, with the limits',
    )
    .action(async (id: string) => {
      const found = await workspaces.find(await workspaceOf(id));
      print({ ...shown(found!), ...(await customerView(id)), ...(await waitingOf(id)) });
    });
  workspace
    .command('set <workspaceId>')
    .description('change the settings that you give; processes use them within 2 seconds')
    .option('--alert-email <address>', 'where warnings about webhooks go, or none')
    .addOption(onOrOff('--webhooks <state>', 'whether its keys can make v2 webhooks'))
    .addOption(
      onOrOff(
        '--sending <state>',
        'off: new emails, texts and batches are refused, batches are paused, and short links answer 410. Messages that wait go on waiting for up to 48 hours (one-time codes: 30 minutes), and then fail',
      ),
    )
    .option('--emails-per-minute <count>', 'more emails than this wait for their turn; or none', countOf)
    .option('--emails-per-hour <count>', 'the same for an hour', countOf)
    .option('--emails-per-day <count>', 'the same for a day', countOf)
    .option(
      '--stop-reply <text>',
      'the reply to a text that says STOP, at most once a day to each number; or none',
    )
    .option('--stop-words <words>', 'more words that mean STOP, such as ARRET,DESABO; or none')
    .option('--start-words <words>', 'more words that mean START; or none')
    .action(async (id: string, options: WorkspaceOptions) => {
      const { alertEmail, webhooks, sending, emailsPerMinute, emailsPerHour, emailsPerDay } = options;
      const workspaceId = await workspaceOf(id);
      const current = await workspaces.find(workspaceId);
      const changed = await workspaces.change(workspaceId, {
        ...optOut.changesOf(current!, optOutOf(options)),
        ...(alertEmail === undefined ? {} : { alertEmail: alertEmail === 'none' ? null : alertEmail }),
        ...(webhooks === undefined ? {} : { webhooksEnabled: webhooks === 'on' }),
        ...(sending === undefined ? {} : { sendingBlocked: sending === 'off' }),
        ...(emailsPerMinute === undefined ? {} : { emailsPerMinute: limitOf(emailsPerMinute) }),
        ...(emailsPerHour === undefined ? {} : { emailsPerHour: limitOf(emailsPerHour) }),
        ...(emailsPerDay === undefined ? {} : { emailsPerDay: limitOf(emailsPerDay) }),
      });
      print(shown(changed));
    });
}

function optOutOf({ stopReply, stopWords, startWords }: WorkspaceOptions): optOut.OptOutOptions {
  return {
    ...(stopReply === undefined ? {} : { stopReply: stopReply === 'none' ? null : stopReply }),
    ...(stopWords === undefined ? {} : { stopWords: stopWords === 'none' ? '' : stopWords }),
    ...(startWords === undefined ? {} : { startWords: startWords === 'none' ? '' : startWords }),
  };
}

function shown(workspace: Awaited<ReturnType<typeof workspaces.change>>): object {
  const { id, name, alertEmail, emailsPerMinute, emailsPerHour, emailsPerDay } = workspace;
  return {
    id,
    name,
    alertEmail,
    webhooks: workspace.webhooksEnabled ? 'on' : 'off',
    sending: workspace.sendingBlocked ? 'off' : 'on',
    emailsPerMinute,
    emailsPerHour,
    emailsPerDay,
    stopReply: workspace.stopReply,
    stopWords: workspace.stopWords.join(',') || null,
    startWords: workspace.startWords.join(',') || null,
  };
}

/** Returns the values that GET /v2/workspace and GET /v2/workspace/spend show. */
async function customerView(id: string): Promise<object> {
  const owner = { workspaceId: id };
  const { country, createdAt, defaultSender, balance } = await workspaceRecord.show(owner);
  const { total, ledger } = await reports.spendForOperator(owner, {});
  return {
    country,
    createdAt,
    defaultSender: defaultSender?.name ?? null,
    balanceGbp: balance?.gbp ?? 'unlimited',
    textsThisMonth: total.messages,
    partsThisMonth: total.parts,
    spentGbpThisMonth: total.cost.gbp,
    balanceChangeGbpThisMonth: ledger.change.gbp,
  };
}

/** Limits are null where there are none. */
async function waitingOf(id: string): Promise<object> {
  const { waiting: has, limits } = await waiting.find(id);
  const inMb = (bytes: number) => Math.round(bytes / 100_000) / 10;
  const finite = (limit: number) => (Number.isFinite(limit) ? limit : null);
  return {
    waitingMessages: has.messages,
    waitingMessagesAtMost: finite(limits.messages),
    waitingMb: inMb(has.bytes),
    waitingMbAtMost: finite(inMb(limits.bytes)),
  };
}

const limitOf = (limit: Limit) => (limit === 'none' ? null : limit);

function countOf(text: string): Limit {
  if (text === 'none') return text;
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1, or none.');
  return Number(text);
}

const onOrOff = (flags: string, description: string) => new Option(flags, description).choices(['on', 'off']);

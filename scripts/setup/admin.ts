import { Command, InvalidArgumentError, Option } from 'commander';
import { now } from '../../shared/clock.ts';
import * as apiKeys from '../../shared/domain/api-keys.ts';
import * as webhooks from '../../shared/domain/webhooks.ts';
import * as workspaces from '../../shared/domain/workspaces.ts';
import { Problem } from '../../shared/errors.ts';
import { isId } from '../../shared/formats/ids.ts';
import { closeEverything, startUp } from '../../shared/lifecycle.ts';
import { type Scope, scopes } from '../../shared/schemas/scopes.ts';
import { type LegacyEvent, legacyEvents } from '../../shared/schemas/webhooks.ts';
import { addBalanceCommands } from './admin-balance.ts';
import { addDomainCommands } from './admin-domains.ts';
import { addEmailCommands } from './admin-emails.ts';
import { addPriceCommands } from './admin-prices.ts';
import { addSenderCommands } from './admin-senders.ts';

/** The operator's command line. Every command prints one record or a list; `--json` prints it for programs. */
const program = new Command('scripts/admin')
  .description('Workspaces, keys, tokens, sending domains, prices and legacy webhooks')
  .addOption(new Option('--json', 'print JSON'))
  .showHelpAfterError();

function print(result: object | object[]): void {
  if (program.opts().json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else if (Array.isArray(result)) console.table(result);
  else for (const [name, value] of Object.entries(result)) process.stdout.write(`${name}: ${value ?? ''}\n`);
}

async function workspaceOf(id: string): Promise<string> {
  if (!isId('workspace', id) || !(await workspaces.find(id))) throw new Error(`There is no workspace ${id}`);
  return id;
}

function scopesOf(text: string): Scope[] {
  const chosen = text.split(',').map((scope) => scope.trim());
  for (const scope of chosen)
    if (!(scopes as readonly string[]).includes(scope))
      throw new Error(`There is no scope "${scope}". Scopes: ${scopes.join(' ')}`);
  return chosen as Scope[];
}

const dayMs = 86_400_000;

function daysOf(text: string): number {
  const days = Number(text);
  if (!(days > 0 && days <= 3650)) throw new InvalidArgumentError('It is a number of days, up to 3650.');
  return days;
}

function nameOf(text: string): string {
  if (text === '' || [...text].length > 64) throw new InvalidArgumentError('It has 1 to 64 characters.');
  return text;
}

function showKey({ record }: { record: apiKeys.IssuedKey['record'] }) {
  return {
    id: record.id,
    name: record.name,
    starts: record.keyPrefix,
    ends: record.keyLast4,
    scopes: record.scopes.length === scopes.length ? 'all' : record.scopes.join(','),
    expiresAt: record.expiresAt?.toISOString() ?? null,
  };
}

const workspace = program.command('workspace').description('Customers');
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

type Limit = number | 'none';
type WorkspaceOptions = {
  alertEmail?: string;
  webhooks?: string;
  sending?: string;
  emailsPerMinute?: Limit;
  emailsPerHour?: Limit;
  emailsPerDay?: Limit;
};

const limitOf = (limit: Limit) => (limit === 'none' ? null : limit);

function countOf(text: string): Limit {
  if (text === 'none') return text;
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('It is a number from 1, or none.');
  return Number(text);
}

const onOrOff = (flags: string, description: string) => new Option(flags, description).choices(['on', 'off']);
workspace
  .command('set <workspaceId>')
  .description('change what is given; processes follow within 2 seconds')
  .option('--alert-email <address>', 'where warnings about webhooks go, or none')
  .addOption(onOrOff('--webhooks <state>', 'whether its keys can make v2 webhooks'))
  .addOption(
    onOrOff(
      '--sending <state>',
      'off: new emails are refused, and what waits goes on waiting, up to 48 hours',
    ),
  )
  .option('--emails-per-minute <count>', 'what is more waits for its turn; or none', countOf)
  .option('--emails-per-hour <count>', 'the same of an hour', countOf)
  .option('--emails-per-day <count>', 'the same of a day', countOf)
  .action(async (id: string, options: WorkspaceOptions) => {
    const { alertEmail, webhooks, sending, emailsPerMinute, emailsPerHour, emailsPerDay } = options;
    const changed = await workspaces.change(await workspaceOf(id), {
      ...(alertEmail === undefined ? {} : { alertEmail: alertEmail === 'none' ? null : alertEmail }),
      ...(webhooks === undefined ? {} : { webhooksEnabled: webhooks === 'on' }),
      ...(sending === undefined ? {} : { sendingBlocked: sending === 'off' }),
      ...(emailsPerMinute === undefined ? {} : { emailsPerMinute: limitOf(emailsPerMinute) }),
      ...(emailsPerHour === undefined ? {} : { emailsPerHour: limitOf(emailsPerHour) }),
      ...(emailsPerDay === undefined ? {} : { emailsPerDay: limitOf(emailsPerDay) }),
    });
    print({
      id,
      name: changed.name,
      alertEmail: changed.alertEmail,
      webhooks: changed.webhooksEnabled ? 'on' : 'off',
      sending: changed.sendingBlocked ? 'off' : 'on',
      emailsPerMinute: changed.emailsPerMinute,
      emailsPerHour: changed.emailsPerHour,
      emailsPerDay: changed.emailsPerDay,
    });
  });

type NewKeyOptions = { name?: string; scopes?: string; expiresInDays?: number };

async function issueKey(workspaceId: string, kind: 'api_key' | 'app', options: NewKeyOptions): Promise<void> {
  const { name = null, scopes: list, expiresInDays: days } = options;
  const issued = await apiKeys.issue(await workspaceOf(workspaceId), {
    kind,
    name,
    expiresAt: days === undefined ? null : new Date(now().getTime() + days * dayMs),
    ...(list === undefined ? {} : { scopes: scopesOf(list) }),
  });
  print({ ...showKey(issued), key: issued.key });
}

async function listKeys(workspaceId: string, kind: 'api_key' | 'app'): Promise<void> {
  const records = await apiKeys.listIssued(await workspaceOf(workspaceId), kind);
  print(records.map((record) => showKey({ record })));
}

async function deleteKey(workspaceId: string, kind: 'api_key' | 'app', keyId: string): Promise<void> {
  if (!isId('key', keyId) || !(await apiKeys.revoke(await workspaceOf(workspaceId), kind, keyId)))
    throw new Error(`There is no ${kind === 'app' ? 'token' : 'key'} ${keyId} in this workspace`);
  print({ deleted: keyId });
}

const key = program.command('key').description('API keys');
key
  .command('create <workspaceId>')
  .description('make a key; it is shown this once')
  .option('--name <name>', 'up to 64 characters', nameOf)
  .option('--scopes <list>', 'with commas; default all')
  .option('--expires-in-days <days>', 'default never', daysOf)
  .action((workspaceId: string, options: NewKeyOptions) => issueKey(workspaceId, 'api_key', options));
key
  .command('list <workspaceId>')
  .description('keys of a workspace, newest first')
  .action((workspaceId: string) => listKeys(workspaceId, 'api_key'));
key
  .command('delete <workspaceId> <keyId>')
  .description('revoke a key, at once; within 10 seconds while Redis is away')
  .action((workspaceId: string, keyId: string) => deleteKey(workspaceId, 'api_key', keyId));

const app = program.command('app').description('tokens of connected apps');
app
  .command('create <workspaceId>')
  .description('make a token; it is shown this once. It can do nothing with API keys but read them')
  .requiredOption('--name <name>', 'of the app, up to 64 characters', nameOf)
  .requiredOption('--scopes <list>', 'with commas')
  .requiredOption('--expires-in-days <days>', 'how long it works', daysOf)
  .action((workspaceId: string, options: NewKeyOptions) => issueKey(workspaceId, 'app', options));
app
  .command('list <workspaceId>')
  .description('tokens of a workspace, newest first')
  .action((workspaceId: string) => listKeys(workspaceId, 'app'));
app
  .command('delete <workspaceId> <tokenId>')
  .description('revoke a token, at once; within 10 seconds while Redis is away')
  .action((workspaceId: string, tokenId: string) => deleteKey(workspaceId, 'app', tokenId));

addDomainCommands(program, { print, workspaceOf });
addEmailCommands(program, { print, workspaceOf });
addSenderCommands(program, { print, workspaceOf });
addPriceCommands(program, { print });
addBalanceCommands(program, { print, workspaceOf });

function legacyEventsOf(text: string): LegacyEvent[] {
  const chosen = text.split(',').map((name) => name.trim());
  for (const name of chosen)
    if (!(legacyEvents as readonly string[]).includes(name))
      throw new InvalidArgumentError(`Its events are ${legacyEvents.join(' and ')}.`);
  return chosen as LegacyEvent[];
}

function numberOf(text: string): string {
  if (!/^\+[1-9][0-9]{6,14}$/.test(text)) throw new InvalidArgumentError('It is in E.164 format.');
  return text;
}

function descriptionOf(text: string): string {
  if ([...text].length > 500) throw new InvalidArgumentError('It has at most 500 characters.');
  return text;
}

type NewLegacyOptions = { events: LegacyEvent[]; description?: string; inboundNumber?: string };

const webhook = program.command('webhook').description('Webhooks; customers make those of v2 by themselves');
webhook
  .command('create-legacy <workspaceId> <url>')
  .description('make a webhook of the first version; its secret is shown this once')
  .requiredOption('--events <list>', `${legacyEvents.join(',')}, or one of them`, legacyEventsOf)
  .option('--description <text>', 'up to 500 characters', descriptionOf)
  .option('--inbound-number <number>', 'only what comes to that number', numberOf)
  .action(async (workspaceId: string, url: string, options: NewLegacyOptions) => {
    print(await webhooks.createLegacy(await workspaceOf(workspaceId), { url, ...options }));
  });
webhook
  .command('list <workspaceId>')
  .description('webhooks of a workspace, newest first')
  .action(async (workspaceId: string) => {
    const all = await webhooks.listAll(await workspaceOf(workspaceId));
    print(
      all.map(({ id, url, apiVersion, events, active, autoDisabled, failingSince }) => ({
        id,
        url,
        version: apiVersion ?? 'legacy',
        events: events.join(','),
        state: autoDisabled ? 'switched off' : active ? 'active' : 'paused',
        failingSince,
      })),
    );
  });

function reasonOf(error: unknown): string {
  if (!(error instanceof Problem)) return (error as Error).message;
  const { detail, errors = {} } = error.options;
  const faults = Object.entries(errors).map(([field, messages]) => `${field} ${messages.join('; ')}`);
  return faults.length > 0 ? faults.join('\n') : (detail ?? error.message);
}

try {
  // Help and mistakes in the arguments need no database.
  program.hook('preAction', () => startUp());
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
} finally {
  await closeEverything();
}

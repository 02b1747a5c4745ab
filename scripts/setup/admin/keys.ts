import { type Command, InvalidArgumentError } from 'commander';
import { now } from '../../../shared/common/clock.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { isId } from '../../../shared/formats/ids.ts';
import { type Scope, scopes } from '../../../shared/schemas/scopes.ts';
import { type Tools, textUpTo } from './tools.ts';

type NewKeyOptions = { name?: string; scopes?: string; expiresInDays?: number };

/** The operator's commands about API keys and the tokens of connected apps. */
export function addKeyCommands(program: Command, { print, workspaceOf }: Tools): void {
  async function issueKey(
    workspaceId: string,
    kind: 'api_key' | 'app',
    options: NewKeyOptions,
  ): Promise<void> {
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
    .description('create a key; it is shown only this once')
    .option('--name <name>', 'up to 64 characters', textUpTo(64, 1))
    .option('--scopes <list>', 'separated by commas; default all')
    .option('--expires-in-days <days>', 'default never', daysOf)
    .action((workspaceId: string, options: NewKeyOptions) => issueKey(workspaceId, 'api_key', options));
  key
    .command('list <workspaceId>')
    .description('keys of a workspace, newest first')
    .action((workspaceId: string) => listKeys(workspaceId, 'api_key'));
  key
    .command('delete <workspaceId> <keyId>')
    .description('revoke a key at once, or within 10 seconds while Redis is away')
    .action((workspaceId: string, keyId: string) => deleteKey(workspaceId, 'api_key', keyId));

  const app = program.command('app').description('tokens of connected apps');
  app
    .command('create <workspaceId>')
    .description(
      'create a token; it is shown only this once. It can read API keys, but not create, change or delete them',
    )
    .requiredOption('--name <name>', 'the name of the app, up to 64 characters', textUpTo(64, 1))
    .requiredOption('--scopes <list>', 'separated by commas')
    .requiredOption('--expires-in-days <days>', 'how many days the token works', daysOf)
    .action((workspaceId: string, options: NewKeyOptions) => issueKey(workspaceId, 'app', options));
  app
    .command('list <workspaceId>')
    .description('tokens of a workspace, newest first')
    .action((workspaceId: string) => listKeys(workspaceId, 'app'));
  app
    .command('delete <workspaceId> <tokenId>')
    .description('revoke a token at once, or within 10 seconds while Redis is away')
    .action((workspaceId: string, tokenId: string) => deleteKey(workspaceId, 'app', tokenId));
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
  if (!(days > 0 && days <= 3650))
    throw new InvalidArgumentError('It must be a number of days above 0, up to 3650.');
  return days;
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

import { Command, Option } from 'commander';
import * as apiKeys from '../../shared/domain/api-keys.ts';
import * as emailDomains from '../../shared/domain/email-domains.ts';
import * as workspaces from '../../shared/domain/workspaces.ts';
import { Problem } from '../../shared/errors.ts';
import { isId } from '../../shared/formats/ids.ts';
import { closeEverything, startUp } from '../../shared/lifecycle.ts';
import { type Scope, scopes } from '../../shared/schemas/scopes.ts';

/** The operator's command line. Every command prints one record or a list; `--json` prints it for programs. */
const program = new Command('scripts/admin')
  .description('Workspaces, keys and sending domains')
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

const key = program.command('key').description('API keys');
key
  .command('create <workspaceId>')
  .description('make a key; it is shown this once')
  .option('--name <name>')
  .option('--scopes <list>', 'with commas; default all')
  .action(async (workspaceId: string, options: { name?: string; scopes?: string }) => {
    const issued = await apiKeys.issue(await workspaceOf(workspaceId), {
      name: options.name ?? null,
      ...(options.scopes ? { scopes: scopesOf(options.scopes) } : {}),
    });
    print({ ...showKey(issued), key: issued.key });
  });
key
  .command('list <workspaceId>')
  .description('keys of a workspace, newest first')
  .action(async (workspaceId: string) => {
    const records = await apiKeys.list(await workspaceOf(workspaceId));
    print(records.map((record) => showKey({ record })));
  });
key
  .command('delete <workspaceId> <keyId>')
  .description('revoke a key; every process refuses it within 10 seconds')
  .action(async (workspaceId: string, keyId: string) => {
    if (!isId('key', keyId) || !(await apiKeys.remove(await workspaceOf(workspaceId), keyId)))
      throw new Error(`There is no key ${keyId} in this workspace`);
    print({ deleted: keyId });
  });

program
  .command('domain')
  .description('sending domains')
  .command('add <workspaceId> <name>')
  .description('add a domain that you vouch for: it may send at once; publish the record that is shown')
  .action(async (workspaceId: string, name: string) => {
    const domain = await emailDomains.addVerified(await workspaceOf(workspaceId), name.toLowerCase());
    print({
      id: domain.id,
      name: domain.name,
      status: domain.status,
      record: `${domain.dkimSelector}._domainkey.${domain.name} TXT "${domain.dkimPublicKey}"`,
    });
  });

try {
  // Help and mistakes in the arguments need no database.
  program.hook('preAction', () => startUp());
  await program.parseAsync();
} catch (error) {
  const reason =
    error instanceof Problem ? (error.options.detail ?? error.message) : (error as Error).message;
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
} finally {
  await closeEverything();
}

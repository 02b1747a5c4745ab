import type { Command } from 'commander';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import { isId } from '../../../shared/formats/ids.ts';
import type { EmailDomain } from '../../../shared/schemas/email/domains.ts';
import type { Tools } from './tools.ts';

/** The operator's commands about sending domains. */
export function addDomainCommands(program: Command, { print, workspaceOf }: Tools): void {
  const domain = program
    .command('domain')
    .description('sending domains; customers add and verify their own domains themselves');
  domain
    .command('add <workspaceId> <name>')
    .description('add a domain that you vouch for: it may send at once; publish the record that is shown')
    .action(async (workspaceId: string, name: string) => {
      const added = await emailDomains.addVerified(await workspaceOf(workspaceId), name);
      print({
        id: added.id,
        name: added.name,
        status: added.status,
        record: `${added.dkimSelector}._domainkey.${added.name} TXT "${added.dkimPublicKey}"`,
      });
    });
  domain
    .command('list <workspaceId>')
    .description('sending domains of a workspace, newest first')
    .action(async (workspaceId: string) => {
      const all = await emailDomains.listAll(await workspaceOf(workspaceId));
      print(all.map(({ id, name, status, lastCheckedAt }) => ({ id, name, status, lastCheckedAt })));
    });
  domain
    .command('verify <workspaceId> <domainId>')
    .description('check the DNS of a domain now')
    .option('--vouch', 'vouch for the domain instead: it may send from now on, whatever its DNS says')
    .action(async (workspaceId: string, domainId: string, { vouch }: { vouch?: true }) => {
      const id = domainIdOf(domainId);
      const workspace = await workspaceOf(workspaceId);
      print(shown(vouch ? await emailDomains.vouch(workspace, id) : await emailDomains.check(workspace, id)));
    });
  domain
    .command('delete <workspaceId> <domainId>')
    .description('remove a domain; its queued emails fail when they are due')
    .action(async (workspaceId: string, domainId: string) => {
      if (!(await emailDomains.removeOf(await workspaceOf(workspaceId), domainIdOf(domainId))))
        throw new Error(`There is no domain ${domainId} in this workspace`);
      print({ deleted: domainId });
    });
}

function domainIdOf(text: string): string {
  if (!isId('domain', text)) throw new Error(`There is no domain ${String(text)}`);
  return text;
}

/** The status of the domain, and a line for each of its records. */
function shown({ id, name, status, lastCheckedAt, records }: EmailDomain): object {
  const lines = records.map(({ purpose, type, name: at, value, status: state, error }) => [
    purpose,
    `${state}${error ? ` (${error})` : ''}: ${at} ${type} "${value}"`,
  ]);
  return { id, name, status, lastCheckedAt, ...Object.fromEntries(lines) };
}

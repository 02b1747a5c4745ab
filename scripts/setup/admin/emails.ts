import type { Command } from 'commander';
import { eraseRecipient } from '../../../shared/domain/email/erasure.ts';
import type { Tools } from './tools.ts';

/** The operator's commands about emails. */
export function addEmailCommands(program: Command, { print, workspaceOf }: Tools): void {
  program
    .command('email')
    .description('emails that were sent')
    .command('erase <workspaceId> <address>')
    .description(
      'delete all records of email to an address, except those that still wait to be sent: it says how many, so run it again once they are gone; what tells of them in the feed and at webhooks goes after its days of retention',
    )
    .action(async (workspaceId: string, address: string) => {
      const erased = await eraseRecipient(await workspaceOf(workspaceId), address);
      if (!erased) throw new Error(`${address} is not an email address`);
      print(erased);
    });
}

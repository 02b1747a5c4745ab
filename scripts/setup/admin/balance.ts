import { type Command, InvalidArgumentError } from 'commander';
import * as smsBalance from '../../../shared/domain/sms/balance.ts';
import { moneyText, parseMoney } from '../../../shared/formats/money.ts';
import type { Tools } from './tools.ts';

const mostEntries = 100;
const mostNote = 256;

/** The operator's commands about what workspaces may spend on text messages. */
export function addBalanceCommands(program: Command, { print, workspaceOf }: Tools): void {
  const balance = program
    .command('balance')
    .description('credit of a workspace for text messages, in pounds; without a balance there is no limit');
  balance
    .command('add <workspaceId> <amount>')
    .description(
      'add to the balance, or take off it with -- and a minus; a workspace without one has one from then on. Held texts go out as far as the balance pays for them',
    )
    .option('--note <text>', 'what it is for, up to 256 characters', noteOf)
    .action(async (workspaceId: string, amount: string, { note }: { note?: string }) => {
      const id = await workspaceOf(workspaceId);
      const parsed = parseMoney(amount);
      if (parsed === null) throw new Error(`"${amount}" is not an amount such as 12.50`);
      print(shown(id, await smsBalance.add(id, parsed, note ?? null)));
    });
  balance
    .command('show <workspaceId>')
    .description('the balance')
    .action(async (workspaceId: string) => {
      const id = await workspaceOf(workspaceId);
      print(shown(id, await smsBalance.find(id)));
    });
  balance
    .command('history <workspaceId>')
    .description(`the last ${mostEntries} changes of the balance, newest first`)
    .action(async (workspaceId: string) => {
      const entries = await smsBalance.listLedger(await workspaceOf(workspaceId), mostEntries);
      print(
        entries.map(({ kind, amount, smsId, note, createdAt }) => ({
          at: createdAt.toISOString(),
          kind,
          amount: moneyText(amount),
          message: smsId,
          note,
        })),
      );
    });
  balance
    .command('set-unlimited <workspaceId>')
    .description('count nothing any more: the balance is gone, and all that is held goes out')
    .action(async (workspaceId: string) => {
      const id = await workspaceOf(workspaceId);
      await smsBalance.makeUnlimited(id);
      print(shown(id, null));
    });
}

function shown(id: string, balance: number | null): object {
  return { id, balance: balance === null ? 'unlimited' : moneyText(balance) };
}

function noteOf(text: string): string {
  if ([...text].length > mostNote) throw new InvalidArgumentError(`It has at most ${mostNote} characters.`);
  return text;
}

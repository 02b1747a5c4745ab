import type { Command } from 'commander';
import * as smsBalance from '../../../shared/domain/sms/balance.ts';
import { moneyText, parseMoney } from '../../../shared/formats/money.ts';
import { type Tools, textUpTo } from './tools.ts';

const mostEntries = 100;

/** The operator's commands about what workspaces may spend on text messages. */
export function addBalanceCommands(program: Command, { print, workspaceOf }: Tools): void {
  const balance = program
    .command('balance')
    .description('credit of a workspace for text messages, in pounds; without a balance there is no limit');
  balance
    .command('add <workspaceId> <amount>')
    .description(
      'add an amount to the balance; to take off, write -- and a negative amount. A workspace without a balance gets one. Held texts are sent as far as the balance pays for them',
    )
    .option('--note <text>', 'the reason for the entry, up to 256 characters', textUpTo(256))
    .action(async (workspaceId: string, amount: string, { note }: { note?: string }) => {
      const id = await workspaceOf(workspaceId);
      const parsed = parseMoney(amount);
      if (parsed === null)
        throw new Error(`The amount "${amount}" is not valid. Give a number such as 12.50`);
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
    .description('remove the balance: nothing is charged any more, and all held texts are sent')
    .action(async (workspaceId: string) => {
      const id = await workspaceOf(workspaceId);
      await smsBalance.makeUnlimited(id);
      print(shown(id, null));
    });
}

function shown(id: string, balance: number | null): object {
  return { id, balance: balance === null ? 'unlimited' : moneyText(balance) };
}

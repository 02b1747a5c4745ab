import type { Writable } from 'node:stream';
import { Command, CommanderError, Option } from 'commander';
import { Problem } from '../../../shared/common/errors.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { isId } from '../../../shared/formats/ids.ts';
import { closeEverything, startUp } from '../../../shared/lifecycle.ts';
import { needPlatform } from '../environment.ts';
import { addBalanceCommands } from './balance.ts';
import { addBatchCommands } from './batches.ts';
import { addDomainCommands } from './domains.ts';
import { addEmailCommands } from './emails.ts';
import { addGatewayCommands } from './gateways.ts';
import { addKeyCommands } from './keys.ts';
import { addPriceCommands } from './prices.ts';
import { addReportCommands } from './reports.ts';
import { addSecretCommands } from './secrets.ts';
import { addSenderCommands } from './senders.ts';
import { recordOf, tableOf } from './table.ts';
import type { Tools } from './tools.ts';
import { addWebhookCommands } from './webhooks.ts';
import { addWorkspaceCommands } from './workspaces.ts';

const groups = [
  addWorkspaceCommands,
  addKeyCommands,
  addDomainCommands,
  addEmailCommands,
  addSenderCommands,
  addPriceCommands,
  addBalanceCommands,
  addBatchCommands,
  addGatewayCommands,
  addReportCommands,
  addWebhookCommands,
  addSecretCommands,
];

type Output = { stdout: Writable; stderr: Writable };

/** The operator's command line. Every command prints one record or a list; `--json` prints it for programs. */
export function commandLine({ stdout, stderr }: Output): Command {
  const program = new Command('scripts/admin')
    .description('Workspaces, keys, tokens, sending domains, prices and legacy webhooks')
    .addOption(new Option('--json', 'print JSON'))
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    // Help and mistakes in the arguments need no database.
    .hook('preAction', () => {
      needPlatform();
      return startUp();
    });

  function print(result: object | object[]): void {
    if (program.opts()['json']) stdout.write(`${JSON.stringify(result)}\n`);
    else stdout.write(Array.isArray(result) ? tableOf(result) : recordOf(result));
  }
  const tell = (line: string): void => void stderr.write(`${line}\n`);
  function printFirst(rows: object[], most: number): void {
    print(rows.slice(0, most));
    if (rows.length > most) tell(`The first ${most}; there are more`);
  }
  const tools: Tools = { print, printFirst, tell, workspaceOf };
  for (const add of groups) add(program, tools);
  return program;
}

async function workspaceOf(id: string): Promise<string> {
  if (!isId('workspace', id) || !(await workspaces.find(id))) throw new Error(`There is no workspace ${id}`);
  return id;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Problem)) return (error as Error).message;
  const { detail, errors = {} } = error.options;
  const faults = Object.entries(errors).map(([field, messages]) => `${field} ${messages.join('; ')}`);
  return faults.length > 0 ? faults.join('\n') : (detail ?? error.message);
}

/**
 * Runs one command and returns its exit code: 2 when the arguments are wrong, 1 when it fails. The caller closes its
 * connections.
 */
export async function run(args: readonly string[], output: Output): Promise<number> {
  try {
    await commandLine(output).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // The library has already printed its message: help, or a mistake in the arguments.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    output.stderr.write(`${reasonOf(error)}\n`);
    return 1;
  }
}

if (import.meta.main) {
  process.exitCode = await run(process.argv.slice(2), process);
  await closeEverything();
}

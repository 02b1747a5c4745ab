import type { Command } from 'commander';
import * as gateways from '../../../shared/domain/sms/gateways/operator.ts';
import type { Tools } from './tools.ts';

/** The operator's commands about carriers of text messages. */
export function addGatewayCommands(program: Command, { print }: Tools): void {
  const gateway = program.command('gateway').description('carriers of text messages that SMS_GATEWAYS names');
  gateway
    .command('list')
    .description('each gateway with its state, window in use, rate and last error')
    .action(async () => print((await gateways.list()).map(row)));
  gateway
    .command('test <number>')
    .description('send a test text to a number, over a connection of this command')
    .option(
      '--gateway <name>',
      'use this gateway, even if it is paused; default: the gateway that messages to this number use',
    )
    .option('--sender <sender>', 'a name or a number; default SMS_SYSTEM_SENDER')
    .action(async (number: string, options: { gateway?: string; sender?: string }) => {
      const { gateway: name, submission, ms } = await gateways.test(number, options);
      if (submission.kind !== 'accepted')
        throw new Error(
          `The gateway ${name} did not accept the text (${submission.kind}): ${submission.detail}`,
        );
      print({ gateway: name, outcome: 'accepted', reference: submission.reference, ms });
    });
  gateway
    .command('pause <name>')
    .description('send no new texts to this gateway: they go to the next gateway that fits, or wait')
    .action(async (name: string) => print(row(await gateways.pause(name))));
  gateway
    .command('resume <name>')
    .description('send texts to this gateway again')
    .action(async (name: string) => print(row(await gateways.resume(name))));
}

function row({ inUse, window, ...view }: gateways.GatewayView): object {
  return { ...view, window: `${inUse}/${window}` };
}

import { type Command, InvalidArgumentError } from 'commander';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { InboundNumber, type LegacyEvent, legacyEvents } from '../../../shared/schemas/webhooks/webhooks.ts';
import { type Tools, textUpTo } from './tools.ts';

type NewLegacyOptions = { events: LegacyEvent[]; description?: string; inboundNumber?: string };

/** The operator's commands about webhooks. */
export function addWebhookCommands(program: Command, { print, workspaceOf }: Tools): void {
  const webhook = program.command('webhook').description('webhooks; customers create v2 webhooks themselves');
  webhook
    .command('create-legacy <workspaceId> <url>')
    .description(
      'create a webhook of the first version; its secret is shown only this once. Such a webhook gets no events of batches',
    )
    .requiredOption('--events <list>', `${legacyEvents.join(',')}, or one of them`, legacyEventsOf)
    .option('--description <text>', 'up to 500 characters', textUpTo(500))
    .option('--inbound-number <number>', 'only texts that come in to this number', numberOf)
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
}

function legacyEventsOf(text: string): LegacyEvent[] {
  const chosen = text.split(',').map((name) => name.trim());
  for (const name of chosen)
    if (!(legacyEvents as readonly string[]).includes(name))
      throw new InvalidArgumentError(
        `It must be one or more of ${legacyEvents.join(', ')}, separated by commas.`,
      );
  return chosen as LegacyEvent[];
}

function numberOf(text: string): string {
  const { success, data, error } = InboundNumber.safeParse(text);
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`);
  return data;
}

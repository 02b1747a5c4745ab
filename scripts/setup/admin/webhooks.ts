import { type Command, InvalidArgumentError } from 'commander';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { InboundNumber, type LegacyEvent, legacyEvents } from '../../../shared/schemas/webhooks/webhooks.ts';
import type { Tools } from './tools.ts';

type NewLegacyOptions = { events: LegacyEvent[]; description?: string; inboundNumber?: string };

/** The operator's commands about webhooks. */
export function addWebhookCommands(program: Command, { print, workspaceOf }: Tools): void {
  const webhook = program
    .command('webhook')
    .description('webhooks; customers make those of v2 by themselves');
  webhook
    .command('create-legacy <workspaceId> <url>')
    .description(
      'make a webhook of the first version; its secret is shown this once. Batches of texts have no event there',
    )
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
}

function legacyEventsOf(text: string): LegacyEvent[] {
  const chosen = text.split(',').map((name) => name.trim());
  for (const name of chosen)
    if (!(legacyEvents as readonly string[]).includes(name))
      throw new InvalidArgumentError(`Its events are ${legacyEvents.join(' and ')}.`);
  return chosen as LegacyEvent[];
}

function numberOf(text: string): string {
  const { success, data, error } = InboundNumber.safeParse(text);
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`);
  return data;
}

function descriptionOf(text: string): string {
  if ([...text].length > 500) throw new InvalidArgumentError('It has at most 500 characters.');
  return text;
}

import type { Command } from 'commander';
import * as businessProfiles from '../../../shared/domain/senders/business-profiles.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import type { Sender } from '../../../shared/schemas/senders.ts';
import { idOf, type Tools } from './tools.ts';

type Countries = { country?: string[] };

const mostToReview = 200;

/** The operator's commands about what text messages come from. */
export function addSenderCommands(program: Command, tools: Tools): void {
  addReview(program, tools);
  addProfiles(program, tools);
  addNumbers(program, tools);
}

function addReview(program: Command, { print, printFirst, workspaceOf }: Tools): void {
  const sender = program.command('sender').description('senders of text messages; customers request them');
  sender
    .command('list [workspaceId]')
    .description(
      'senders of a workspace, newest first; without a workspace, the senders of all workspaces that wait for a review',
    )
    .option('--pending', 'only senders that wait for a review')
    .action(async (workspaceId: string | undefined, { pending }: { pending?: true }) => {
      if (workspaceId !== undefined && !pending)
        return print((await senders.listAll(await workspaceOf(workspaceId))).map(shown));
      const of = workspaceId && (await workspaceOf(workspaceId));
      printFirst(await toReview(of || null, mostToReview + 1), mostToReview);
    });
  sender
    .command('add <workspaceId> <name>')
    .description('add a sender that you vouch for: it may send at once')
    .option('--country <codes...>', 'ISO 3166-1 alpha-2; default that of the workspace')
    .action(async (workspaceId: string, name: string, { country }: Countries) =>
      print(shown(await senders.addApproved(await workspaceOf(workspaceId), name, country))),
    );
  sender
    .command('approve <senderId> <country...>')
    .description('approve a sender for countries that it was requested for')
    .action(async (senderId: string, countries: string[]) =>
      print(shown(await senders.approve(idOf('sender', senderId), countries))),
    );
  sender
    .command('reject <senderId> <country...>')
    .description('reject a sender for countries that it was requested for')
    .requiredOption('--reason <text>', 'what the customer is told, up to 256 characters')
    .action(async (senderId: string, countries: string[], { reason }: { reason: string }) =>
      print(shown(await senders.reject(idOf('sender', senderId), countries, reason))),
    );
  sender
    .command('default <senderId>')
    .description('make an approved sender the default of its workspace')
    .action(async (senderId: string) => print(shown(await senders.makeDefault(idOf('sender', senderId)))));
}

/** Returns everything that a reviewer needs. */
async function toReview(only: string | null, limit: number): Promise<object[]> {
  const waiting = await senders.listToReview(only, limit);
  return Promise.all(
    waiting.map(async ({ workspaceId, sender }) => {
      const { businessProfileId: profileId } = sender;
      const profile = profileId && (await businessProfiles.find(workspaceId, profileId));
      return {
        id: sender.id,
        name: sender.name,
        workspace: (await workspaces.find(workspaceId))?.name ?? workspaceId,
        business: profile ? profile.name : null,
        countries: named(sender, 'pending'),
        sampleContent: sender.sampleContent,
        createdAt: sender.createdAt,
      };
    }),
  );
}

function addProfiles(program: Command, { print, workspaceOf }: Tools): void {
  const profile = program.command('profile').description('businesses that a workspace sends for');
  profile
    .command('create <workspaceId> <name>')
    .description('make a business profile; its senders are held until you verify it')
    .action(async (workspaceId: string, name: string) =>
      print(shownProfile(await businessProfiles.create(await workspaceOf(workspaceId), name))),
    );
  profile
    .command('list <workspaceId>')
    .description('business profiles of a workspace, newest first')
    .action(async (workspaceId: string) =>
      print((await businessProfiles.listAll(await workspaceOf(workspaceId))).map(shownProfile)),
    );
  profile
    .command('verify <profileId>')
    .description('verify a business profile; its senders go on to their review')
    .action(async (profileId: string) => {
      print(shownProfile(await businessProfiles.verify(idOf('profile', profileId))));
    });
}

function addNumbers(program: Command, { print, workspaceOf }: Tools): void {
  const number = program.command('number').description('virtual numbers, which take replies');
  number
    .command('add <workspaceId>')
    .description('add a virtual number, to be assigned')
    .option('--country <codes...>', 'where it is to send; default the country of the workspace')
    .action(async (workspaceId: string, { country }: Countries) =>
      print(shown(await senders.addNumber(await workspaceOf(workspaceId), country))),
    );
  number
    .command('assign <senderId> <number>')
    .description('give it its number: it may send, and takes what is texted to it')
    .action(async (senderId: string, text: string) =>
      print(shown(await senders.assignNumber(idOf('sender', senderId), text))),
    );
  number
    .command('unassign <senderId>')
    .description('take the number back')
    .action(async (senderId: string) => print(shown(await senders.unassignNumber(idOf('sender', senderId)))));
  number
    .command('remove <senderId>')
    .description('remove a virtual number that is not assigned')
    .action(async (senderId: string) => {
      await senders.removeNumber(idOf('sender', senderId));
      print({ removed: senderId });
    });
}

function shown(sender: Sender): object {
  const { id, kind, name, status } = sender;
  return {
    id,
    kind,
    name,
    status,
    approved: named(sender, 'approved'),
    pending: named(sender, 'pending'),
    rejected: named(sender, 'rejected'),
    default: sender.default,
  };
}

function named({ countries }: Sender, wanted: string): string {
  return countries.flatMap(({ country, status }) => (status === wanted ? [country] : [])).join(' ');
}

function shownProfile({ id, name, status }: { id: string; name: string; status: string }): object {
  return { id, name, status };
}

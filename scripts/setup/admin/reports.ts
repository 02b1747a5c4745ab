import type { Command } from 'commander';
import type { z } from 'zod';
import { now } from '../../../shared/common/clock.ts';
import { invalidFields } from '../../../shared/common/errors.ts';
import { isolated } from '../../../shared/common/isolated.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { flatRow } from '../../../shared/formats/flat-row.ts';
import { ReportFilter, SendsFilter } from '../../../shared/schemas/reports.ts';
import type { Tools } from './tools.ts';

type Given = { from?: string; to?: string; timeZone?: string; channel?: string };
type Owner = { workspaceId: string };
type Rows = { data: readonly object[] };

/** Name of a report -> the function that reads it. */
const readers: Record<string, (owner: Owner, given: Given & { interval?: string }) => Promise<Rows>> = {
  sends: (owner, given) => reports.sends(owner, filterOf(SendsFilter, given)),
  'client-tags': (owner, given) => reports.clientTags(owner, filterOf(ReportFilter, given)),
  countries: (owner, given) => reports.countries(owner, filterOf(ReportFilter, given)),
  latency: (owner, given) => reports.latency(owner, filterOf(ReportFilter, given)),
  'email-deliverability': (owner, given) => reports.emailDeliverability(owner, filterOf(ReportFilter, given)),
};
const names = Object.keys(readers).join(', ');

/** The operator's commands about the reports of a workspace. */
export function addReportCommands(program: Command, { print, tell, workspaceOf }: Tools): void {
  const report = program.command('reports').description('figures of the messages that workspaces have sent');
  report
    .command('show <workspaceId> <report>')
    .description(`the rows of a report: ${names}`)
    .option('--from <time>', 'a date, or a date and time with an offset; default 30 days before the end')
    .option('--to <time>', 'default the end of this hour')
    .option('--time-zone <zone>', 'such as Europe/London; default UTC')
    .option('--channel <channel>', 'email or sms; default both')
    .option('--interval <interval>', 'for the report sends: hour, day or month')
    .action(async (workspaceId: string, name: string, given: Given & { interval?: string }) => {
      const owner = { workspaceId: await workspaceOf(workspaceId) };
      const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
      if (!read) throw new Error(`There is no report "${name}". Reports: ${names}`);
      const { data } = await read(owner, given);
      print(data.map(flatRow));
    });
  report
    .command('rebuild [workspaceId]')
    .description(
      'count the messages of a workspace, or of all workspaces, again. Hours whose messages were already deleted are not changed. This takes a while; the processes can run meanwhile',
    )
    .option('--from <time>', 'the first hour, as RFC 3339; default as far back as messages are kept')
    .option('--to <time>', 'up to this hour; default now')
    .action(async (workspaceId: string | undefined, { from, to }: Given) => {
      const start = from === undefined ? reports.oldestKept() : timeOf(from);
      const end = to === undefined ? nextHour() : timeOf(to);
      const rebuilt = async (id: string) => ({ id, ...(await reports.rebuild(id, start, end)) });
      if (workspaceId !== undefined) return print(await rebuilt(await workspaceOf(workspaceId)));
      const ids = (await workspaces.listAll()).map(({ id }) => id);
      const found = await rebuildEach(ids, rebuilt, tell);
      print(found.rebuilt);
      if (found.left.length > 0) throw new Error(`Not rebuilt: ${found.left.join(', ')}`);
    });
}

/**
 * Rebuilds the reports of each workspace, and tells of each one once it is done. A fault of one does not stop the
 * others, but a long outage does. `left`: the workspaces that are not rebuilt.
 */
async function rebuildEach(
  ids: string[],
  rebuilt: (id: string) => Promise<{ messages: number }>,
  tell: Tools['tell'],
) {
  const each = isolated('the reports of a workspace could not be rebuilt');
  const done = new Map<string, object>();
  for (const [index, id] of ids.entries()) {
    if (each.isInOutage()) break;
    const result = await each.run({ workspaceId: id }, () => rebuilt(id));
    if (result) done.set(id, result);
    const end = result ? `messages: ${result.messages}` : 'failed';
    tell(`${index + 1} of ${ids.length}: ${id}, ${end}`);
  }
  return { rebuilt: [...done.values()], left: ids.filter((id) => !done.has(id)) };
}

const nextHour = () => new Date(now().getTime() + 3_600_000);

function timeOf(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error(`"${text}" is not a time such as 2026-11-01T00:00:00Z`);
  return time;
}

/** The options as the API reads them from a query, with the same refusals. */
function filterOf<Filter>(schema: z.ZodType<Filter>, given: object): Filter {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  throw invalidFields(
    Object.fromEntries(error.issues.map(({ path, message }) => [path.join('.'), [message]])),
  );
}

import type { Command } from 'commander';
import * as smsBatches from '../../../shared/domain/sms/batches/batches.ts';
import { idOf, type Tools } from './tools.ts';

const mostListed = 200;

/** The operator's commands about batches of text messages. */
export function addBatchCommands(program: Command, { print, printFirst, workspaceOf }: Tools): void {
  const batch = program.command('batch').description('batches of text messages');
  batch
    .command('list [workspaceId]')
    .description(
      'batches of a workspace, newest first; without a workspace, the unfinished batches of all workspaces',
    )
    .action(async (workspaceId: string | undefined) => {
      const found =
        workspaceId === undefined
          ? await smsBatches.listUnfinished(mostListed + 1)
          : await listOf(await workspaceOf(workspaceId));
      printFirst(found.map(row), mostListed);
    });
  batch
    .command('show <batchId>')
    .description('all about a batch, with its counts')
    .action(async (batchId: string) => print(shown(await smsBatches.findAny(idOf('batch', batchId)))));
  batch
    .command('cancel <batchId>')
    .description('cancel a batch: messages that are not being sent yet are not sent')
    .action(async (batchId: string) => print(shown(await smsBatches.cancelAny(idOf('batch', batchId)))));
  batch
    .command('resume <batchId>')
    .description('resume a paused batch, if the cause of its pause has ended')
    .action(async (batchId: string) => print(shown(await smsBatches.resumeAny(idOf('batch', batchId)))));
}

async function listOf(workspaceId: string): Promise<smsBatches.OwnedBatch[]> {
  const { data } = await smsBatches.list({ workspaceId }, { limit: mostListed + 1 });
  return data.map((batch) => ({ workspaceId, batch }));
}

/** The columns by which an operator finds a batch among many. */
function row({ workspaceId, batch }: smsBatches.OwnedBatch): object {
  const { id, status, pausedReason, counts, createdAt, scheduledAt } = batch;
  const { total, waiting, queued } = counts;
  return { id, workspace: workspaceId, status, pausedReason, total, waiting, queued, createdAt, scheduledAt };
}

function shown({ workspaceId, batch }: smsBatches.OwnedBatch): object {
  const { counts, cost, id, ...rest } = batch;
  return { id, workspace: workspaceId, ...rest, ...counts, costGbp: cost.gbp, costEur: cost.eur };
}

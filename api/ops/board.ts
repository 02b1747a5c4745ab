import { createBullBoard } from '@bull-board/api';
import { ExpressAdapter } from '@bull-board/express';
import type { Express } from 'express';
import { queueNames } from '../../shared/jobs/index.ts';
import { partitions } from '../../shared/queue/partitions.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { PartitionedQueue } from './partitioned-queue.ts';

/**
 * Shows the queues to operators. Jobs are wake-ups that hold ids only, so the board shows no customer data, and the
 * sweep adds jobs again that are removed here.
 */
export function createBoard(basePath: string): Express {
  const adapter = new ExpressAdapter();
  adapter.setBasePath(basePath);
  createBullBoard({
    queues: queueNames.map(
      (name) => new PartitionedQueue(partitions().map((partition) => queueOf(name, partition))),
    ),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Queues', hideRedisDetails: true } },
  });
  const board = adapter.getRouter() as Express;
  board.disable('x-powered-by').disable('etag');
  withoutForeignFonts(board);
  return board;
}

type ViewEngine = (path: string, options: object, done: (error: unknown, html?: string) => void) => void;

/** Removes the links to a font service: the operator's browser must not send requests to other companies. */
function withoutForeignFonts(board: Express): void {
  const { engines } = board as unknown as { engines: Record<string, ViewEngine> };
  const render = engines['.ejs']!;
  board.engine('ejs', (path, options, done) =>
    render(path, options, (error, html) => done(error, html?.replace(/<link[^>]+href="https?:[^>]*>/g, ''))),
  );
}

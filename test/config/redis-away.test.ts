// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { useDatabase } from '../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../support/processes/processes.ts';

useDatabase();

// Nothing listens on port 1.
const settings = { REDIS_URL: 'redis://:hunter2@127.0.0.1:1' };

test.each([
  ['web', () => startWeb(settings, { readyAt: '/health/live' })],
  ['a worker', () => startWorkerProcess(['send-email'], settings)],
])('%s that finds no Redis names the setting and the host, once, and goes on', async (_what, start) => {
  const started = await start();
  const lines = started.output().split('\n');
  expect(lines.filter((line) => line.includes('REDIS_URL'))).toEqual([
    expect.stringContaining(
      'REDIS_URL: the Redis at 127.0.0.1:1 does not answer; work is accepted, and done once it is back',
    ),
  ]);
  expect(started.output()).not.toContain('hunter2');
  await started.kill();
});

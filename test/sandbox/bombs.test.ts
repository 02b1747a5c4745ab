// @slow: hostile templates run until the sandbox stops them.
import { afterAll, expect, test } from 'vitest';
import * as sandbox from '../../shared/sandbox/sandbox.ts';
import { invented, measured } from './bombs.ts';

afterAll(sandbox.closeSandbox);

const now = new Date('2026-11-20T10:00:00Z');
let made = 0;

const renderAlone = (source: string, data: Record<string, unknown> = {}, escape = true) =>
  // Each bomb has its own workspace, so that none waits for another.
  sandbox.render({
    workspaceId: `attacker${(made += 1)}`,
    parts: [{ name: 'html', source, escape }],
    data,
    now,
  });

// Shows A25
test.each([...measured, ...invented])('$name ends in a clear error', async ({ source, data, says }) => {
  for (const escape of [true, false]) {
    // A bomb that nothing stops would run for minutes, longer than the time-out of a test.
    const result = await renderAlone(source, data, escape);
    expect(result).toEqual({
      ok: false,
      errors: [expect.objectContaining({ part: 'html', message: expect.stringMatching(says) })],
    });
  }
});

// Shows A21
test.each([
  ['more than 1 MiB', { a: 'x'.repeat(2_000_000) }, 'is larger than 1 MiB'],
  ['many small values', { a: Array.from({ length: 500_000 }, () => 1) }, 'is larger than 1 MiB'],
  [
    '100,000 levels',
    { a: JSON.parse(`${'['.repeat(6000)}${']'.repeat(6000)}`) as unknown },
    'is nested more than 64 levels',
  ],
])('data of %s is refused', async (_name, data, message) => {
  expect(await renderAlone('{{ a }}', data)).toEqual({ ok: false, errors: [{ part: 'data', message }] });
});

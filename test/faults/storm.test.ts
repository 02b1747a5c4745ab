// @slow: it breaks everything under load.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startProcess } from '../support/processes/processes.ts';
import { faults } from './storm/faults.ts';
import { streamOf } from './storm/random.ts';
import { planStorm } from './storm/schedule.ts';

const slots = ['web-1', 'web-2', 'worker_email-1'];
const plan = (seed: number, kinds?: string[]) =>
  planStorm({
    random: streamOf(seed, 0),
    durationMs: 1_800_000,
    slots,
    gapMs: [2_000, 7_000],
    ...(kinds && { kinds }),
  });

test('a seed is a storm: the same one gives the same faults at the same times, another one others', () => {
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test('half an hour has each kind of fault at each of its targets, and none while another is at the same target', () => {
  const planned = plan(3);
  const met = new Set(planned.map(({ kind, target }) => `${kind}, ${target}`));
  for (const [kind, { to }] of Object.entries(faults))
    for (const target of to === 'processes' ? slots : to) expect(met).toContain(`${kind}, ${target}`);
  for (const same of Map.groupBy(planned, ({ target }) => target).values())
    for (const [index, { atMs, lastMs }] of same.entries())
      expect(same[index + 1]?.atMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(atMs + lastMs);
});

// Shows that all of it works together; for what it finds the long form is made (scripts/test faults).
test('a short storm: all that is accepted is done, and no invariant is broken', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'short-storm-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'result.json');
  const options = '--minutes 0.1 --seed 3 --size small --per-second 5'.split(' ');
  const storm = startProcess('test/faults/storm/main.ts', [...options, '--json', file]);
  const { code } = await storm.exited;
  expect(code, storm.output()).toBe(0);
  const result = JSON.parse(readFileSync(file, 'utf8'));
  expect(result).toMatchObject({ lost: 0, findings: [], oddities: [] });
  expect(result.faults.length).toBeGreaterThanOrEqual(4);
  expect(result.requests['send email'].accepted).toBeGreaterThan(10);
}, 300_000);

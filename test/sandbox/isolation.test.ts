// @slow: hostile templates run until the sandbox stops them.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tooSlow } from '../../shared/formats/templates/liquid-limits.ts';
import * as sandbox from '../../shared/sandbox/sandbox.ts';
import { cpuSlowdown } from '../support/processes/cpu-time.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { invented, measured } from './bombs.ts';

const now = new Date('2026-11-20T10:00:00Z');
const letter = `<p>Dear {{ name }},</p>{% for line in lines %}<p>{{ line.count }} {{ line.name }}</p>{% endfor %}`;
const data = { name: 'Ada & Co', lines: [{ count: 2, name: 'tea' }] };
const rendered = '<p>Dear Ada &amp; Co,</p><p>2 tea</p>';
/** Enough renders that p95 does not depend on the slowest two alone. */
const renders = 60;
const bombs = [...measured, ...invented].filter(({ source }) => source.length < 1000);

const renderOne = (workspaceId: string, source: string, values: Record<string, unknown> = data) =>
  sandbox.render({ workspaceId, parts: [{ name: 'html', source, escape: true }], data: values, now });

beforeEach(async () => {
  // A source counts as known once a thread has rendered it quickly; the first render may be too slow.
  for (let index = 0; index < 10; index += 1) await renderOne('neighbour', letter);
});

// Work that still waits is rejected.
afterEach(sandbox.closeSandbox);

/** Sends bombs, three at a time per workspace, until the sandbox closes; returns a counter of the bombs that ended. */
async function attack(workspaces: number): Promise<() => number> {
  let ended = 0;
  for (let lane = 0; lane < workspaces * 3; lane += 1)
    void (async () => {
      for (let index = lane; ; index += 1) {
        const { source, data } = bombs[index % bombs.length]!;
        // No source is sent twice, so none is known.
        await renderOne(`attacker${lane % workspaces}`, `${source}${' '.repeat(index)}`, data);
        ended += 1;
      }
    })().catch(() => {});
  // The number of threads at one moment depends on the machine as well: a busy one starts threads slowly.
  await waitFor('bombs run, and threads have taken the place of killed ones', () => {
    return ended >= 3 && sandbox.sandboxStats().working > 0;
  });
  return () => ended;
}

/**
 * Makes the neighbour's renders one after the other; returns how many bombs ended during each, in ascending order.
 * Times would depend too much on the machine and its other work.
 */
async function bombsBefore(ended: () => number, count: number, isNew: boolean): Promise<number[]> {
  const waits: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const before = ended();
    const suffix = isNew ? `<!-- ${index} -->` : '';
    const result = await renderOne(isNew ? 'new neighbour' : 'neighbour', `${letter}${suffix}`);
    expect(result).toEqual({ ok: true, outputs: [`${rendered}${suffix}`] });
    waits.push(ended() - before);
  }
  return waits.toSorted((a, b) => a - b);
}

const at = (waits: number[], share: number) => waits[Math.floor((waits.length - 1) * share)]!;
const report = (name: string, waits: number[]) =>
  console.info(
    `${name}: waited for ${at(waits, 0.5)} (p50), ${at(waits, 0.95)} (p95), ${at(waits, 1)} (most) bombs, ` +
      `${waits.reduce((sum, one) => sum + one, 0)} in all`,
  );

/** Returns the longest CPU time of this thread without a pause in which it could have answered a request. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [last, most] = [cpuMs(), 0];
  const timer = setInterval(() => {
    const now = cpuMs();
    [last, most] = [now, Math.max(most, now - last)];
  }, 1);
  await work();
  clearInterval(timer);
  return most;
}

// Shows A24
test('while one workspace sends bombs without pause, the renders of others stay quick and the process answers', async () => {
  const ended = await attack(1);
  let waits = { known: [] as number[], fresh: [] as number[] };
  const turnMs = await longestTurnMs(async () => {
    const [known, fresh] = await Promise.all([
      bombsBefore(ended, renders, false),
      bombsBefore(ended, renders, true),
    ]);
    waits = { known, fresh };
  });
  report('known source', waits.known);
  report('new source', waits.fresh);
  console.info(`main thread: at most ${Math.round(turnMs)} ms without a pause`);
  // Without isolation each render would wait for at least one bomb.
  for (const each of [waits.known, waits.fresh]) {
    expect(at(each, 0.5)).toBe(0);
    expect(at(each, 0.95)).toBeLessThanOrEqual(1);
  }
  // A bomb takes more than 100 ms, and as many times that as this machine computes slower.
  expect(turnMs / cpuSlowdown()).toBeLessThan(100);
});

test('twenty workspaces of bombs do not hold up a source that is known to be quick', async () => {
  const ended = await attack(20);
  const known = await bombsBefore(ended, renders, false);
  report('known source', known);
  // A bomb waits for the turn of its workspace among twenty; a source that is not known would wait as well.
  expect(at(known, 0.5)).toBeLessThanOrEqual(1);
  expect(at(known, 0.95)).toBeLessThanOrEqual(4);
});

const isTooSlow = (errors: { message: string }[]) => errors.every(({ message }) => message === tooSlow);

// Shows A67
test('while others render rows in bulk without pause, a render has its turn between', async () => {
  // A row takes about half a millisecond, and 500 rows take many messages to a thread.
  const source = '{% for i in (1..500) %}{{ name }}{% endfor %}';
  const rows = Array.from({ length: 500 }, (_, index) => ({ source, data: `{"name":"${index % 10}"}` }));
  let isOver = false;
  let renderedRows = 0;
  const bulk = Promise.all(
    ['bulk', 'other bulk', 'third bulk'].map(async (workspaceId) => {
      while (!isOver) {
        const request = { workspaceId, rows, shared: '{}', now, escape: false, withinMs: 60_000 };
        const results = await sandbox.renderMany({ ...request, resultOf: (output) => output });
        renderedRows += results.filter(({ ok }) => ok).length;
        // On a busy machine a row or a wait for a turn may time out; this test ignores such results.
        const failed = results.filter((one) => !one.ok && !one.busy && !isTooSlow(one.errors));
        expect(failed).toEqual([]);
      }
    }),
  );
  await waitFor('rows are rendered', () => sandbox.sandboxStats().rendered > 100);
  const crossings = () => sandbox.sandboxStats().rendered;
  const [known, fresh] = await Promise.all([
    bombsBefore(crossings, renders, false),
    bombsBefore(crossings, renders, true),
  ]);
  isOver = true;
  await bulk;
  expect(renderedRows).toBeGreaterThan(rows.length);
  report('known source', known);
  report('new source', fresh);
  // Each render counts itself, and at times the one beside it. Without turns it would wait for a whole call of rows.
  for (const each of [known, fresh]) {
    expect(at(each, 0.5)).toBeLessThanOrEqual(4);
    expect(at(each, 0.95)).toBeLessThanOrEqual(8);
  }
});

test('a workspace with too much waiting is told that it is busy, and another is served all the same', async () => {
  const [many, other] = await Promise.all([
    Promise.all(Array.from({ length: 1100 }, () => renderOne('flood', letter))),
    renderOne('neighbour', letter),
  ]);
  const busy = many.filter((result) => !result.ok && result.busy);
  expect(busy.length).toBeGreaterThanOrEqual(99);
  expect(busy.length).toBeLessThan(110);
  expect(many.filter((result) => result.ok)).toHaveLength(1100 - busy.length);
  expect(other.ok).toBe(true);
});

import { expect, test } from 'vitest';
import type { Request } from '../storm/ledger.ts';
import type { InjectedFault } from '../storm/types.ts';
import { gapsOf, isTooLong } from './gaps.ts';

const request = (key: string, answeredMs: number, status = 201): [string, Request] => [
  key,
  { key, operation: 'send email', customer: 0, startedMs: 0, answeredMs, status, code: null, hashes: [] },
];
const fault = (kind: string, target: string, atMs: number, lastedMs: number): InjectedFault => ({
  kind,
  target,
  atMs,
  lastedMs,
});
const stalls: InjectedFault[] = [];
const limits = { kill: 3_000 };

test('the gap of a fault is the longest time without a 2xx that falls into it, even in part', () => {
  const requests = new Map([
    request('a', 1_000),
    request('b', 5_500),
    // Refused, so nothing was accepted then.
    request('c', 3_000, 422),
    request('d', 6_000),
  ]);
  const [gap] = gapsOf({ requests, stalls }, [fault('kill', 'mysql', 2_000, 3_600)], limits);
  expect(gap).toMatchObject({ gapMs: 4_500, limitMs: 3_000 });
  expect(isTooLong(gap!)).toBe(true);
  const [before, after] = gapsOf(
    { requests, stalls },
    [fault('freeze', 'mysql', 0, 900), fault('freeze', 'mysql', 5_600, 100)],
    limits,
  );
  expect([before!.gapMs, after!.gapMs]).toEqual([null, 500]);
});

test('of a fault with a limit no time counts in which a web process was harmed, or the machine stalled', () => {
  const requests = new Map([1_000, 1_500, 6_000, 6_200, 9_900].map((at) => request(String(at), at)));
  const killed = fault('kill', 'mysql', 1_200, 5_000);
  const web = fault('kill -9', 'web', 2_000, 1_000);
  const gapOf = (others: InjectedFault[], stalled: InjectedFault[] = []) =>
    gapsOf({ requests, stalls: stalled }, [killed, ...others], limits)[0]!.gapMs;
  expect(gapOf([])).toBe(4_500);
  expect(gapOf([web])).toBe(500);
  expect(gapOf([{ ...web, target: 'worker' }])).toBe(4_500);
  expect(gapOf([], [fault('the machine stalled', 'worker', 4_000, 600)])).toBe(500);
  expect(gapOf([{ ...web, atMs: 0, lastedMs: 9_000 }])).toBeNull();
});

test('time without a 2xx belongs to the fault of an engine in which it passes, not to the one before it as well', () => {
  const requests = new Map([1_000, 1_800, 3_900, 8_000, 8_500].map((at) => request(String(at), at)));
  const faults = [
    fault('kill', 'mysql', 1_500, 2_500),
    fault('freeze', 'mysql', 4_000, 3_000),
    fault('kill', 'mysql', 7_200, 900),
  ];
  const gaps = gapsOf({ requests, stalls }, faults, limits).map(({ gapMs }) => gapMs);
  // From 3,900 to 8,000 nothing was accepted: the first fault shares 100 ms of that time, the last one 1,000 ms.
  expect(gaps).toEqual([2_100, 4_100, 1_000]);
});

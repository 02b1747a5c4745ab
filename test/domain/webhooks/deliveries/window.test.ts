import { beforeEach, expect, test } from 'vitest';
import type { Pacing } from '../../../../shared/db/webhooks/deliveries/deliveries.system.ts';
import { isHealthy, restForHalf, windowOf } from '../../../../shared/domain/webhooks/deliveries/window.ts';
import { changeSettings } from '../../../support/processes/settings.ts';

beforeEach(() => changeSettings({ WEBHOOK_JOBS_PER_WEBHOOK: 500 }));

const time = new Date('2026-11-20T10:00:00.000Z');
const ago = (seconds: number) => new Date(time.getTime() - seconds * 1000);
const healthy: Pacing = {
  active: true,
  autoDisabled: false,
  pausedUntil: null,
  failingSince: null,
  consecutiveFailures: 0,
};
const window = (changes: Partial<Pacing>) => windowOf({ ...healthy, ...changes }, time);

test('a webhook in good health may have 500 deliveries in Redis', () => {
  expect(window({})).toBe(500);
  expect(window({ pausedUntil: ago(3600) })).toBe(500);
});

test('one that nothing may be sent to has none', () => {
  expect(window({ active: false })).toBe(0);
  expect(window({ active: false, autoDisabled: true })).toBe(0);
  expect(window({ pausedUntil: ago(-1) })).toBe(0);
});

test('in an outage a few try whether it is over', () => {
  expect(window({ failingSince: ago(60), consecutiveFailures: 10 })).toBe(10);
});

test('a failure among others that went well is no outage', () => {
  expect(window({ failingSince: ago(1), consecutiveFailures: 1 })).toBe(500);
});

test.each([
  [0, 10],
  [4, 10],
  [5, 20],
  [10, 40],
  [15, 80],
  [20, 160],
  [25, 320],
  [29, 320],
  [30, 500],
])('%i seconds after a rest, %i', (seconds, most) => {
  expect(window({ pausedUntil: ago(seconds) })).toBe(most);
  expect(window({ pausedUntil: ago(seconds), failingSince: ago(0), consecutiveFailures: 1 })).toBe(most);
});

test('what more came than it took halves it, step by step, and never to nothing', () => {
  const seen: number[] = [];
  for (let webhook = healthy; seen.length < 8; ) {
    webhook = { ...webhook, pausedUntil: restForHalf(webhook, time) };
    seen.push(windowOf(webhook, time));
  }
  expect(seen).toEqual([160, 80, 40, 20, 10, 10, 10, 10]);
});

test('first attempts go beside those of others only to a webhook in good health', () => {
  expect(isHealthy(healthy, time)).toBe(true);
  for (const changes of [
    { failingSince: ago(1), consecutiveFailures: 1 },
    { pausedUntil: ago(10) },
    { pausedUntil: ago(-10) },
    { active: false },
  ])
    expect(isHealthy({ ...healthy, ...changes }, time)).toBe(false);
});

test('a smaller room is the most in any state', () => {
  changeSettings({ WEBHOOK_JOBS_PER_WEBHOOK: 4 });
  expect(window({})).toBe(4);
  expect(window({ failingSince: ago(60), consecutiveFailures: 10 })).toBe(4);
  expect(window({ pausedUntil: ago(0) })).toBe(4);
  expect(isHealthy(healthy, time)).toBe(true);
});

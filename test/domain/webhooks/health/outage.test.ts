import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { after, dueOf, type End, type Health } from '../../../../shared/domain/webhooks/health/outage.ts';

const start = Date.parse('2026-11-20T10:00:00Z');
const minuteMs = 60_000;
/** Returns the time `minutes` minutes after the start. */
const at = (minutes: number) => new Date(start + minutes * minuteMs);
const fails = (minutes: number): End => ({ isSuccess: false, endedAt: at(minutes) });
const succeeds = (minutes: number): End => ({ isSuccess: true, endedAt: at(minutes) });

const healthy: Health = {
  active: true,
  autoDisabled: false,
  autoDisableExempt: false,
  autoDisableAfterMinutes: null,
  atRiskAlertPercent: null,
  atRiskWarnedAt: null,
  failingSince: null,
  lastFailedAt: null,
  consecutiveFailures: 0,
  recoveredAt: null,
};
/** Returns the health after these batches of attempts have been noted one after the other. */
const noted = (...batches: End[][]) => batches.reduce<Health>(after, healthy);
const outage = ({ failingSince, consecutiveFailures }: Health) => ({
  since: failingSince && (failingSince.getTime() - start) / minuteMs,
  failures: consecutiveFailures,
});

test.each<[string, End[][], { since: number | null; failures: number }]>([
  ['a failure begins an outage', [[fails(1)]], { since: 1, failures: 1 }],
  ['more failures make it longer', [[fails(1), fails(2)], [fails(3)]], { since: 1, failures: 3 }],
  ['a success ends it', [[fails(1), fails(2)], [succeeds(3)]], { since: null, failures: 0 }],
  ['a failure after that begins another', [[fails(1)], [succeeds(2)], [fails(3)]], { since: 3, failures: 1 }],
  ['a success of a healthy webhook changes nothing', [[succeeds(1)]], { since: null, failures: 0 }],
  [
    'within a batch the times count',
    [[fails(5), succeeds(3), fails(1), fails(4)]],
    { since: 4, failures: 2 },
  ],
  ['a batch may begin and end one', [[fails(1), succeeds(2)]], { since: null, failures: 0 }],
  ['an earlier failure that comes late moves the start', [[fails(5)], [fails(3)]], { since: 3, failures: 2 }],
  [
    'a success from before the outage does not end it',
    [[fails(5)], [succeeds(3)]],
    { since: 5, failures: 1 },
  ],
  [
    'a late success leaves the failure after it',
    [[fails(1), fails(2), fails(9)], [succeeds(5)]],
    { since: 9, failures: 1 },
  ],
  [
    'a late failure from before the success is old news',
    [[fails(1)], [succeeds(5)], [fails(3)]],
    { since: null, failures: 0 },
  ],
  [
    'even when the webhook fails again',
    [[fails(1)], [succeeds(5)], [fails(7)], [fails(3)]],
    { since: 7, failures: 1 },
  ],
  ['a success at the time of the failure ends it', [[fails(1)], [succeeds(1)]], { since: null, failures: 0 }],
])('%s', (_what, batches, expected) => {
  expect(outage(noted(...batches))).toEqual(expected);
});

test('however attempts are split into batches, the outage runs from the first failure after the last success', () => {
  const attempts = fc.array(fc.boolean(), { maxLength: 30 });
  fc.assert(
    fc.property(attempts, fc.array(fc.nat(30)), (outcomes, cuts) => {
      const ends = outcomes.map((isSuccess, index): End => ({ isSuccess, endedAt: at(index) }));
      const bounds = [
        0,
        ...cuts.map((cut) => Math.min(cut, ends.length)).toSorted((a, b) => a - b),
        ends.length,
      ];
      const batches = bounds.slice(1).map((end, index) => ends.slice(bounds[index], end).toReversed());
      const failures = outcomes.slice(outcomes.lastIndexOf(true) + 1).length;
      expect(outage(noted(...batches))).toEqual({
        since: failures > 0 ? outcomes.length - failures : null,
        failures,
      });
    }),
  );
});

test('what changes nothing gives the same object', () => {
  const failing = noted([fails(1)], [succeeds(5)], [fails(7)]);
  expect(after(failing, [fails(3), succeeds(6)])).toBe(failing);
  expect(after(healthy, [succeeds(1)])).toBe(healthy);
});

test('the end of an outage takes its warning along, a late success too', () => {
  const warned = { ...noted([fails(1)]), atRiskWarnedAt: at(2) };
  expect(after(warned, [fails(3)]).atRiskWarnedAt).toEqual(at(2));
  expect(after(warned, [succeeds(3)]).atRiskWarnedAt).toBeNull();
  expect(after(after(warned, [fails(9)]), [succeeds(5)]).atRiskWarnedAt).toBeNull();
});

const failing = (changes: Partial<Health> = {}): Health => ({ ...noted([fails(0)]), ...changes });

test.each<[string, Partial<Health>, number | null, number | null]>([
  ['the defaults', {}, 36, 360],
  ['1 percent, which is the first failure', { atRiskAlertPercent: 1 }, 0, 360],
  ['2 percent', { atRiskAlertPercent: 2 }, 7.2, 360],
  ['99 percent', { atRiskAlertPercent: 99 }, 356.4, 360],
  ['0 percent, which is never', { atRiskAlertPercent: 0 }, null, 360],
  ['a window of 5 minutes', { autoDisableAfterMinutes: 5 }, 0.5, 5],
  ['a window of 7 days', { autoDisableAfterMinutes: 10_080 }, 1008, 10_080],
  ['an exempt webhook', { autoDisableExempt: true }, null, null],
  ['one that its customer has paused', { active: false }, null, null],
  ['one that is switched off', { active: false, autoDisabled: true }, null, null],
])('when it warns and when it switches off: %s', (_what, changes, warnAfter, offAfter) => {
  const webhook = failing(changes);
  const ms = 1 / minuteMs;
  const first = offAfter ?? Infinity;
  for (const [minutes, due] of [
    ...(warnAfter === null
      ? []
      : ([
          [warnAfter, ['warning']],
          [warnAfter - ms, []],
        ] as const)),
    ...(offAfter === null
      ? []
      : ([
          // If both are overdue, the warning comes first.
          [offAfter, warnAfter === null ? ['switch_off'] : ['warning', 'switch_off']],
          [1e6, warnAfter === null ? ['switch_off'] : ['warning', 'switch_off']],
        ] as const)),
    [Math.min(first - ms, 1e6), warnAfter === null ? [] : ['warning']],
  ] as const)
    expect([minutes, dueOf(webhook, at(minutes))]).toEqual([minutes, due]);
});

test('an outage is warned of once', () => {
  expect(dueOf(failing({ atRiskWarnedAt: at(36) }), at(100))).toEqual([]);
  expect(dueOf(failing({ atRiskWarnedAt: at(36) }), at(360))).toEqual(['switch_off']);
});

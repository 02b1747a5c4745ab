import { expect, test } from 'vitest';
import type { EmailDomainRecord } from '../../../../shared/db/email/domains.ts';
import { after, type Findings, firstCheckDue } from '../../../../shared/domain/email/domains/status.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const start = new Date('2026-11-20T10:00:00.000Z');
const at = (afterMs: number) => new Date(start.getTime() + afterMs);

function domain(changes: Partial<EmailDomainRecord> = {}): EmailDomainRecord {
  return {
    id: 'domain_01h455vb4pex5vsknk084sn02q',
    workspaceId: 'workspace_01h455vb4pex5vsknk084sn02q',
    name: 'a.example',
    status: 'pending',
    dkimSelector: 'm1',
    dkimPrivateKey: Buffer.alloc(0),
    dkimPublicKey: 'v=DKIM1; p=x',
    checks: {},
    createdAt: start,
    verifiedAt: null,
    lastCheckedAt: null,
    warningSince: null,
    checkDueAt: firstCheckDue(start),
    ...changes,
  };
}

type Seen = 'there' | 'gone' | 'wrong' | 'trouble';
function look(time: Date, seen: Seen): Findings {
  const status = ({ there: 'verified', gone: 'missing', wrong: 'invalid', trouble: 'pending' } as const)[
    seen
  ];
  const wanted = {
    purpose: 'dkim',
    type: 'TXT',
    name: 'n',
    value: 'v',
    judge: () => ({ status, error: null }),
  };
  return {
    at: time,
    findings: [
      { wanted: wanted as never, check: { value: 'v', status, error: null }, isKnown: seen !== 'trouble' },
    ],
  };
}

/** Returns the domain after these checks, each at its time after the start. */
function course(first: EmailDomainRecord, looks: [afterMs: number, seen: Seen][]): EmailDomainRecord {
  return looks.reduce((before, [afterMs, seen]) => after(before, look(at(afterMs), seen)) ?? before, first);
}

const verified = () => course(domain(), [[5 * minuteMs, 'there']]);
const warned = () => course(verified(), [[dayMs, 'gone']]);
const failed = () => course(warned(), [[2 * dayMs, 'gone']]);

test('a new domain is looked at after 5 minutes', () => {
  expect(firstCheckDue(start)).toEqual(at(5 * minuteMs));
});

test.each([
  ['pending', domain, 10 * minuteMs, 'gone', 'pending', 5 * minuteMs],
  ['pending', domain, 10 * minuteMs, 'wrong', 'pending', 5 * minuteMs],
  ['pending', domain, 10 * minuteMs, 'there', 'verified', dayMs],
  ['pending', domain, 14 * dayMs - 1, 'gone', 'pending', 5 * minuteMs],
  ['pending', domain, 14 * dayMs, 'gone', 'failed', dayMs],
  ['pending', domain, 14 * dayMs, 'there', 'verified', dayMs],
  ['verified', verified, dayMs, 'there', 'verified', dayMs],
  ['verified', verified, dayMs, 'gone', 'warning', hourMs],
  ['verified', verified, dayMs, 'wrong', 'warning', hourMs],
  ['warning', warned, dayMs + hourMs, 'gone', 'warning', hourMs],
  ['warning', warned, dayMs + hourMs, 'there', 'verified', dayMs],
  ['warning', warned, 2 * dayMs - 1, 'gone', 'warning', 1],
  ['warning', warned, 2 * dayMs - 20 * minuteMs, 'gone', 'warning', 20 * minuteMs],
  ['warning', warned, 2 * dayMs, 'gone', 'failed', dayMs],
  ['warning', warned, 3 * dayMs, 'there', 'verified', dayMs],
  ['failed', failed, 4 * dayMs, 'gone', 'failed', dayMs],
  ['failed', failed, 4 * dayMs, 'there', 'verified', dayMs],
] as const)('%s, looked at after %3$i ms, its record %4$s: %5$s, looked at again %6$i ms later', (...row) => {
  const [before, make, afterMs, seen, status, waitMs] = row;
  const first = make();
  expect(first.status).toBe(before);
  const changed = course(first, [[afterMs, seen]]);
  expect(changed.status).toBe(status);
  expect(changed.checkDueAt).toEqual(at(afterMs + waitMs));
  expect(changed.lastCheckedAt).toEqual(at(afterMs));
});

test.each([
  ['pending', domain, 15 * minuteMs],
  ['pending for 14 days', domain, dayMs, 14 * dayMs],
  ['verified', verified, hourMs],
  ['warning', warned, 15 * minuteMs],
  ['failed', failed, dayMs],
] as const)('trouble leaves a domain that is %s as it is', (_what, make, waitMs, afterMs = 5 * dayMs) => {
  const before = make();
  const changed = course(before, [[afterMs, 'trouble']]);
  expect(changed).toMatchObject({
    status: before.status,
    verifiedAt: before.verifiedAt,
    warningSince: before.warningSince,
    checkDueAt: at(afterMs + waitMs),
  });
});

test('the grace runs from the first look that found the record gone, and anew after it was back', () => {
  expect(course(warned(), [[dayMs + 23 * hourMs, 'gone']])).toMatchObject({
    status: 'warning',
    warningSince: at(dayMs),
  });
  const back = course(warned(), [
    [dayMs + hourMs, 'there'],
    [2 * dayMs, 'gone'],
  ]);
  expect(back).toMatchObject({ status: 'warning', warningSince: at(2 * dayMs) });
});

test('verifiedAt is when it last came to be verified, and outlives the grace', () => {
  expect(warned().verifiedAt).toEqual(at(5 * minuteMs));
  expect(course(warned(), [[dayMs + hourMs, 'there']]).verifiedAt).toEqual(at(5 * minuteMs));
  expect(course(failed(), [[9 * dayMs, 'there']]).verifiedAt).toEqual(at(9 * dayMs));
});

test('what an earlier look has found does not undo a later one', () => {
  const now = course(domain(), [[hourMs, 'there']]);
  expect(after(now, look(at(hourMs - 1), 'gone'))).toBeNull();
});

test('a domain that the operator vouches for stays as it is', () => {
  const vouched = domain({ status: 'verified', checkDueAt: null });
  expect(course(vouched, [[100 * dayMs, 'gone']])).toMatchObject({
    status: 'verified',
    checkDueAt: null,
    checks: { dkim: { status: 'missing' } },
  });
});

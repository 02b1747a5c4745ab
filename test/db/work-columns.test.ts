import { expect, test } from 'vitest';
import { emailDomains } from '../../shared/db/email/domains.ts';
import { emails } from '../../shared/db/email/emails.ts';
import { sms } from '../../shared/db/sms/messages.ts';
import { handoverStarter } from '../../shared/db/work/claim.system.ts';
import { outcomeWriter } from '../../shared/db/work/outcomes.system.ts';
import { dueTable, ofMessages, ofWorkspaces, workTable } from '../../shared/db/work/table.system.ts';
import { emailLanes } from '../../shared/schemas/lanes.ts';

const index = 'emails_admission';
const own = { ...ofMessages, lanes: { field: 'kind', order: emailLanes }, index } as const;
const message = { ...ofMessages, index };
const { name } = emails;
const outcome = emails.pick('status', 'triedAt');
const [first, second] = emailLanes;

test('a kind of work is about the columns and lanes that its table has; others do not compile', () => {
  const work = workTable(emails, own);
  expect(work).toMatchObject({ name: 'emails', isUntried: 'retries = 0', lanes: { column: 'kind' } });
  expect(work.waitsSince).toBe('COALESCE(scheduled_at, created_at)');
  // These functions are never called: the test is about their types.
  const wrong = [
    // @ts-expect-error -- its SQL names scheduled_at
    () => workTable({ name, ...emails.omit('scheduledAt') }, own),
    // @ts-expect-error -- every claim counts
    () => workTable(emails.omit('claims'), { ...ofWorkspaces, index }),
    // @ts-expect-error -- emails have no such lane
    () => workTable(emails, { ...message, lanes: { field: 'kind', order: [...emailLanes, 'urgent'] } }),
    // @ts-expect-error -- emails of the third lane would never be admitted
    () => workTable(emails, { ...message, lanes: { field: 'kind', order: [first, second] } }),
    // @ts-expect-error -- this column has no lanes
    () => workTable(emails, { ...message, lanes: { field: 'status', order: emailLanes } }),
    // @ts-expect-error -- an email is of no webhook
    () => workTable(emails, { ...message, owner: 'webhookId' }),
    // @ts-expect-error -- emails count their retries
    () => workTable(emails, { ...message, untried: { tries: 'attempts', since: [] } }),
    // @ts-expect-error -- the column is checkDueAt
    () => dueTable(emailDomains, { key: 'id', due: 'dueAt', index }),
    // @ts-expect-error -- a name is no time
    () => dueTable(emailDomains, { key: 'id', due: 'name', index }),
    // @ts-expect-error -- there is no such status
    () => dueTable(sms, { key: 'id', due: 'dueAt', status: 'parked', index }),
    // @ts-expect-error -- there is no such column
    () => handoverStarter(work, { firstAt: emails.pick('claimedAt') }),
    // @ts-expect-error -- a name may be misspelt
    () => handoverStarter(work, { firstAt: 'tried_at' }),
    // @ts-expect-error -- there is no such column
    () => outcomeWriter(work, outcome, { clears: emails.pick('claimedAt') }),
    // @ts-expect-error -- there is no such column
    () => outcomeWriter(work, outcome, { kept: { columns: ['tried'], whereNull: 'tried_at' } }),
    // @ts-expect-error -- there is no such column
    () => outcomeWriter(work, outcome, { kept: { columns: ['tried_at'], whereNull: 'tried' } }),
  ];
  expect(wrong).toHaveLength(15);
});

import { expect, test } from 'vitest';
import { emails } from '../../shared/db/email/emails.ts';
import { handoverStarter } from '../../shared/db/work/claim.system.ts';
import { messageTable } from '../../shared/db/work/message-admission.system.ts';
import { outcomeWriter } from '../../shared/db/work/outcomes.system.ts';

const own = { prefix: 'email', lanes: null, index: 'emails_admission' } as const;
const { name } = emails;
const outcome = emails.pick('status', 'triedAt');

test('a kind of work is about the columns that its table has; others do not compile', () => {
  const work = messageTable(emails, own);
  expect(work).toMatchObject({ name: 'emails', isUntried: 'retries = 0' });
  // These functions are never called: the test is about their types.
  const wrong = [
    // @ts-expect-error -- its SQL names scheduled_at
    () => messageTable({ name, ...emails.omit('scheduledAt') }, own),
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
  expect(wrong).toHaveLength(6);
});

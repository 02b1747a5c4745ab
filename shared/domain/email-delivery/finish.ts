import type { EmailRecord } from '../../db/emails.ts';
import * as system from '../../db/system/emails.ts';
import { count } from '../../metrics.ts';
import * as events from '../events.ts';
import type { Outcome } from '../outcome.ts';
import { writeOutcome } from '../write-outcome.ts';
import type { Judgement } from './judge.ts';

export async function finish(token: Buffer, before: EmailRecord, judgement: Judgement): Promise<Outcome> {
  const { email } = judgement;
  // While a worker holds it, an email is due at the end of the lease.
  const isOurs = await writeOutcome(before.dueAt!, () => system.finishEmail({ ...judgement, token }));
  // The lease had ended and somebody else has the email now: what we know is no longer wanted.
  if (!isOurs) return 'dropped';
  count(`emails_${judgement.metric}`, { kind: before.kind });
  if (judgement.events.length > 0) events.wakeRelay();
  return email.dueAt ? { retryAt: email.dueAt } : 'done';
}

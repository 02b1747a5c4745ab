import { count } from '../../../common/metrics.ts';
import * as system from '../../../db/email/emails.system.ts';
import type { EmailRecord } from '../../../db/email/emails.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import * as events from '../../events/events.ts';
import * as suppressions from '../../suppressions.ts';
import { jobAfter, writeOutcome } from '../../work/write-outcome.ts';
import { isSoftBounce, noteSoftBounce } from '../mail-reports/soft-bounces.ts';
import type { EmailJudgement } from './judge.ts';

export async function finish(
  token: Buffer,
  before: EmailRecord,
  judgement: EmailJudgement,
): Promise<WorkOutcome> {
  const { email, bounce } = judgement;
  // While a worker holds it, an email is due at the end of the lease.
  const isOurs = await writeOutcome(before.dueAt!, () =>
    system.finishEmail({
      ...judgement,
      token,
      ...(bounce !== undefined && {
        also: {
          of: email.id,
          write: async () => void (await suppressions.addRecipient(email, 'all', 'bounce', bounce)),
        },
      }),
      // The transaction may contain many emails to one address. One look at the address is enough for all of them.
      ...(isSoftBounce(email) && {
        also: { of: `${email.workspaceId} ${email.recipientKey}`, write: () => noteSoftBounce(email) },
      }),
    }),
  );
  // The lease had ended and another worker has the email now: our outcome is no longer wanted.
  if (!isOurs) return 'dropped';
  count(`emails_${judgement.metric}`, { kind: before.kind });
  if (judgement.events.length > 0) events.wakeRelay();
  return jobAfter(email);
}

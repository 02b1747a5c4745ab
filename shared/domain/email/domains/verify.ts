import { now } from '../../../common/clock.ts';
import { orNotFound, problem } from '../../../common/errors.ts';
import { semaphore } from '../../../common/semaphore.ts';
import { afterCommit, transaction } from '../../../db/client.ts';
import * as db from '../../../db/email/domains.ts';
import type { EmailDomain } from '../../../schemas/email/domains.ts';
import { apply, checkRecords } from './check.ts';
import { toWire } from './records.ts';
import { forget } from './signing.ts';
import type { Findings } from './status.ts';

/** A name server that never answers holds a check for seconds; one workspace must not take the turns of the others. */
const checks = semaphore({ permits: () => 4, waitMs: 0, mostWaiting: 0 });

const refusal = () =>
  problem('rate_limited', {
    detail:
      'Too many domains of this workspace are being checked at the same time. Send this request again later',
    retryAfterSeconds: 2,
  });

/**
 * Looks at the DNS of a domain for a request. Call it before the transaction that stores the findings, as it asks the
 * network.
 */
export async function findRecords(workspaceId: string, domainId: string): Promise<Findings> {
  const record = orNotFound(await db.findEmailDomain(workspaceId, domainId));
  return checks.run(workspaceId, refusal, () => checkRecords(record));
}

/** Stores the findings in the current transaction. */
export async function verify(
  workspaceId: string,
  domainId: string,
  findings: Findings,
): Promise<EmailDomain> {
  const record = orNotFound(await apply(workspaceId, domainId, findings));
  return toWire(record);
}

/** Looks at the DNS and stores the findings, for the operator. */
export async function check(workspaceId: string, domainId: string): Promise<EmailDomain> {
  const findings = await findRecords(workspaceId, domainId);
  return transaction(() => verify(workspaceId, domainId, findings));
}

/** The operator vouches for the domain from now on: it may send, whatever its DNS says. */
export async function vouch(workspaceId: string, domainId: string): Promise<EmailDomain> {
  return transaction(async () => {
    const record = orNotFound(await db.findEmailDomainForUpdate(workspaceId, domainId));
    const vouched: db.EmailDomainRecord = {
      ...record,
      status: 'verified',
      verifiedAt: record.status === 'verified' ? record.verifiedAt : now(),
      warningSince: null,
      checkDueAt: null,
    };
    await db.updateEmailDomain(workspaceId, vouched);
    afterCommit(() => forget(workspaceId, record.name));
    return toWire(vouched);
  });
}

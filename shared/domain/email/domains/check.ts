import { fromNow, now, nowForAll } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { afterCommit, transaction } from '../../../db/client.ts';
import * as system from '../../../db/email/domains.system.ts';
import * as db from '../../../db/email/domains.ts';
import { claimDue } from '../../../db/work/due.system.ts';
import { findWorkspace } from '../../../db/workspace/workspaces.ts';
import { checkDomains } from '../../../jobs/check-domains.ts';
import { type DnsLookup, lookUp } from '../../../transports/dns.ts';
import { dueKind } from '../../../work/due.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import * as systemMail from '../../operations/system-mail.ts';
import { mailAbout } from './mails.ts';
import { checkOf, type WantedRecord, wantedOf } from './records.ts';
import { forget } from './signing.ts';
import { after, type Findings, type RecordFinding } from './status.ts';

/**
 * A lease is far longer than a check takes, so that no other worker checks the same domain. After a crash, the domain
 * is checked again when the lease has ended.
 */
const leaseMs = 60_000;

/** The domains whose DNS check is due. */
export const checks = dueKind('email_domain_check', system.checkTable, checkDomains, (domainId) => ({
  domainId,
}));

/** Checks the DNS of a domain that is due, and applies the findings. */
export async function checkDue(domainId: string): Promise<WorkOutcome> {
  const until = fromNow(leaseMs);
  if (!(await claimDue(system.checkTable, { id: domainId, at: nowForAll(), until }))) return 'dropped';
  const domain = await system.findEmailDomainOfAny(domainId);
  if (!domain) return 'dropped';
  const findings = await checkRecords(domain);
  await transaction(() => apply(domain.workspaceId, domainId, findings));
  return 'done';
}

/** Returns the present findings of a domain's DNS. Call it outside of a transaction: it asks the network. */
export async function checkRecords(domain: db.EmailDomainRecord): Promise<Findings> {
  const at = now();
  const wanted = wantedOf(domain);
  const names = wanted.map(({ name, inheritedFrom = [] }) => [name, ...inheritedFrom]);
  const answers = await lookUp(
    wanted.flatMap(({ type }, index) => names[index]!.map((name) => ({ name, type }))),
  );
  const findings = wanted.map((each, index) =>
    findingOf(domain, each, answers.splice(0, names[index]!.length)),
  );
  count('email_domain_checks', { result: resultOf(findings[0]!) });
  return { at, findings };
}

/** `answers`: for the record's own name, then for the names that it inherits from. */
function findingOf(domain: db.EmailDomainRecord, wanted: WantedRecord, answers: DnsLookup[]): RecordFinding {
  // The first answer other than "missing" counts. If that is a failed look-up, nothing is known.
  const answer =
    answers.find((each) => !('records' in each) || wanted.judge(each.records).status !== 'missing') ??
    answers[0]!;
  const isKnown = 'records' in answer;
  const { status, error } = isKnown
    ? wanted.judge(answer.records)
    : { status: checkOf(domain, wanted).status, error: answer.trouble };
  return { wanted, check: { value: wanted.value, status, error }, isKnown };
}

function resultOf({ isKnown, check }: RecordFinding): string {
  if (!isKnown) return 'trouble';
  return check.status === 'verified' ? 'seen' : 'not_seen';
}

/** Stores the findings in the current transaction; null when the domain is gone. */
export async function apply(
  workspaceId: string,
  domainId: string,
  findings: Findings,
): Promise<db.EmailDomainRecord | null> {
  const before = await db.findEmailDomainForUpdate(workspaceId, domainId);
  if (!before) return null;
  const domain = after(before, findings);
  if (!domain) return before;
  await db.updateEmailDomain(workspaceId, domain);
  if (domain.status !== before.status) await reportChange(before, domain);
  afterCommit(() => forget(workspaceId, domain.name));
  return domain;
}

async function reportChange(before: db.EmailDomainRecord, domain: db.EmailDomainRecord): Promise<void> {
  const { workspaceId, name, status } = domain;
  const mail = mailAbout(before, domain);
  if (mail) {
    const workspace = await findWorkspace(workspaceId);
    await systemMail.send(workspace?.alertEmail ?? null, mail);
  }
  afterCommit(() => {
    count('email_domain_changes', { status });
    logger.info({ workspaceId, domain: name, from: before.status, to: status }, 'a sending domain changed');
  });
}

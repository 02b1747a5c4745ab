import { config } from '../../../config/config.ts';
import type { EmailDomainRecord, RecordCheck } from '../../../db/email/domains.ts';
import {
  type Judged,
  judgeAlias,
  judgeDkim,
  judgeDmarc,
  judgeSpf,
} from '../../../formats/email/dns-records.ts';
import { DomainRecord, EmailDomain, type RecordPurpose } from '../../../schemas/email/domains.ts';
import { wireOf } from '../../requests/wire.ts';

/** The records that a domain is to publish, and how the ones found there are judged. */

export type WantedRecord = Pick<DomainRecord, 'purpose' | 'type' | 'name' | 'value'> & {
  judge: (found: readonly string[]) => Judged;
  /** Names whose record counts if this name has none; nearest first. */
  inheritedFrom?: readonly string[];
};

type Domain = Pick<EmailDomainRecord, 'name' | 'dkimSelector' | 'dkimPublicKey'>;

export function wantedOf(domain: Domain): WantedRecord[] {
  const { name, dkimSelector, dkimPublicKey } = domain;
  const returnPath = config.RETURN_PATH_DOMAIN;
  const include = config.SPF_INCLUDE ?? returnPath;
  return [
    {
      purpose: 'dkim',
      type: 'TXT',
      name: `${dkimSelector}._domainkey.${name}`,
      value: dkimPublicKey,
      judge: (found) => judgeDkim(found, dkimPublicKey),
    },
    ...(returnPath === undefined
      ? []
      : [
          {
            purpose: 'return_path',
            type: 'CNAME',
            name: bounceHostOf(name),
            value: returnPath,
            judge: (found: readonly string[]) => judgeAlias(found, returnPath),
          } as const,
        ]),
    ...(include === undefined
      ? []
      : [
          {
            purpose: 'spf',
            type: 'TXT',
            name,
            value: `v=spf1 include:${include} ~all`,
            judge: (found: readonly string[]) => judgeSpf(found, include),
          } as const,
        ]),
    {
      purpose: 'dmarc',
      type: 'TXT',
      name: `_dmarc.${name}`,
      value: 'v=DMARC1; p=none',
      judge: judgeDmarc,
      inheritedFrom: parentsOf(name).map((parent) => `_dmarc.${parent}`),
    },
  ];
}

const nearestParents = 3;

/** A policy of the organization holds for its subdomains (RFC 7489 §6.6.3); one of their own could only weaken it. */
function parentsOf(name: string): string[] {
  const labels = name.split('.');
  const parents = labels.slice(1, -1).map((_label, index) => labels.slice(index + 1).join('.'));
  return parents.slice(0, nearestParents);
}

function bounceHostOf(name: string): string {
  return `bounce.${name}`;
}

const unseen = { status: 'pending', error: null } as const;

/** Returns the last check of a record; `unseen` if the record was to have another value then. */
export function checkOf(
  domain: EmailDomainRecord,
  wanted: { purpose: RecordPurpose; value: string },
): Pick<RecordCheck, 'status' | 'error'> {
  const check = domain.checks[wanted.purpose];
  return check?.value === wanted.value ? check : unseen;
}

/** Returns the host name for this domain's bounces; null until its CNAME record is verified. */
export function returnPathOf(domain: EmailDomainRecord): string | null {
  const value = config.RETURN_PATH_DOMAIN;
  if (value === undefined) return null;
  const { status } = checkOf(domain, { purpose: 'return_path', value });
  return status === 'verified' ? bounceHostOf(domain.name) : null;
}

export function toWire(domain: EmailDomainRecord): EmailDomain {
  const records = wantedOf(domain).map((wanted) =>
    wireOf(DomainRecord, { ...wanted, ...checkOf(domain, wanted) }),
  );
  return wireOf(EmailDomain, { ...domain, records });
}

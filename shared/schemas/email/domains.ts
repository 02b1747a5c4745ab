import { z } from 'zod';
import { CreatedAt, Id, pageOf, Timestamp, text } from '../fields.ts';

export const EmailDomainStatus = z
  .enum(['pending', 'verified', 'warning', 'failed'])
  .describe(
    'pending: the DKIM record has not been found yet; verified: you may send from the domain; warning: the DKIM record is missing, you may still send for 24 hours; failed: you may not send from the domain',
  );
export type EmailDomainStatus = z.infer<typeof EmailDomainStatus>;

export const RecordPurpose = z
  .enum(['dkim', 'return_path', 'spf', 'dmarc'])
  .describe(
    'dkim: required, it decides the status of the domain; return_path: bounces go to an address in your own domain; spf, dmarc: recommended',
  );
export type RecordPurpose = z.infer<typeof RecordPurpose>;

export const RecordStatus = z
  .enum(['pending', 'verified', 'missing', 'invalid'])
  .describe(
    'pending: the DNS has not answered yet; verified: the record is right; missing: the DNS has no such record; invalid: the record is wrong',
  );
export type RecordStatus = z.infer<typeof RecordStatus>;

export const DomainRecord = z
  .object({
    purpose: RecordPurpose,
    type: z.enum(['TXT', 'CNAME']).describe('The type of the DNS record'),
    name: z.string().meta({
      description: 'The name of the DNS record',
      example: 'mabc._domainkey.example.com',
    }),
    value: z
      .string()
      .describe(
        'The value to publish. Publish a TXT value of more than 255 characters as several strings. If the domain already has an SPF record, add the include to that record. A DMARC record of your own is enough',
      ),
    status: RecordStatus,
    error: z.string().nullable().describe('The fault of the record, or why the DNS query failed'),
  })
  .meta({
    id: 'EmailDomainRecord',
    description: 'A DNS record to publish, and the result of the last check',
  });
export type DomainRecord = z.infer<typeof DomainRecord>;

export const EmailDomain = z
  .object({
    id: Id('domain'),
    name: z.string().meta({ description: 'The domain, in lower case and punycode', example: 'example.com' }),
    status: EmailDomainStatus,
    records: z.array(DomainRecord).describe('The records to publish in the DNS of the domain'),
    createdAt: CreatedAt,
    verifiedAt: Timestamp.nullable().describe('When the DKIM record was first found'),
    lastCheckedAt: Timestamp.nullable().describe('When the DNS was last checked'),
  })
  .meta({
    id: 'EmailDomain',
    description: 'A domain to send from, with the DNS records that prove that it is yours',
  });
export type EmailDomain = z.infer<typeof EmailDomain>;

export const EmailDomainPage = pageOf(EmailDomain, 'EmailDomainPage');

export const NewEmailDomain = z
  .object({
    name: text({ min: 1, max: 253 }).meta({
      description:
        'The part after the @ in the addresses of senders; add each subdomain as a separate domain',
      example: 'example.com',
    }),
  })
  .meta({ id: 'NewEmailDomain', description: 'A domain that the workspace wants to send from' });
export type NewEmailDomain = z.infer<typeof NewEmailDomain>;

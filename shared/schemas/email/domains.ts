import { z } from 'zod';
import { CreatedAt, Id, pageOf, Timestamp, text } from '../fields.ts';

export const EmailDomainStatus = z
  .enum(['pending', 'verified', 'warning', 'failed'])
  .describe(
    'pending: the DKIM record has not been seen yet; verified: it may send; warning: the record is gone, it may send for 24 hours more; failed: it may not send',
  );
export type EmailDomainStatus = z.infer<typeof EmailDomainStatus>;

export const RecordPurpose = z
  .enum(['dkim', 'return_path', 'spf', 'dmarc'])
  .describe(
    'dkim: required, and what the status of the domain hangs on; return_path: bounces come back under your own name; spf, dmarc: recommended',
  );
export type RecordPurpose = z.infer<typeof RecordPurpose>;

export const RecordStatus = z
  .enum(['pending', 'verified', 'missing', 'invalid'])
  .describe('pending: no answer has been seen yet');
export type RecordStatus = z.infer<typeof RecordStatus>;

export const DomainRecord = z
  .object({
    purpose: RecordPurpose,
    type: z.enum(['TXT', 'CNAME']).describe('Of the DNS record'),
    name: z.string().meta({ description: 'Where to publish it', example: 'mabc._domainkey.example.com' }),
    value: z
      .string()
      .describe(
        'What to publish. A TXT value of more than 255 characters is published as several strings. Where there is an SPF record already, add the include to it; a DMARC record of your own is as good',
      ),
    status: RecordStatus,
    error: z.string().nullable().describe('What is wrong, or why it could not be looked up'),
  })
  .meta({ id: 'EmailDomainRecord', description: 'A DNS record to publish, and what was last seen of it' });
export type DomainRecord = z.infer<typeof DomainRecord>;

export const EmailDomain = z
  .object({
    id: Id('domain'),
    name: z.string().meta({ description: 'In lower case and punycode', example: 'example.com' }),
    status: EmailDomainStatus,
    records: z.array(DomainRecord).describe('What to publish in the DNS of the domain'),
    createdAt: CreatedAt,
    verifiedAt: Timestamp.nullable().describe('When the DKIM record was seen first'),
    lastCheckedAt: Timestamp.nullable().describe('When the DNS was looked at last'),
  })
  .meta({ id: 'EmailDomain', description: 'A domain to send from, with the DNS records that prove it' });
export type EmailDomain = z.infer<typeof EmailDomain>;

export const EmailDomainPage = pageOf(EmailDomain, 'EmailDomainPage');

export const NewEmailDomain = z
  .object({
    name: text({ min: 1, max: 253 }).meta({
      description: 'What comes after the @ of senders; subdomains are domains of their own',
      example: 'example.com',
    }),
  })
  .meta({ id: 'NewEmailDomain', description: 'A domain that the workspace wants to send from' });
export type NewEmailDomain = z.infer<typeof NewEmailDomain>;

import { z } from 'zod';
import {
  CreatedAt,
  Id,
  JsonObject,
  Moment,
  messagePageQuery,
  ownReference,
  ownTag,
  pageOf,
  Timestamp,
  tagFilter,
  text,
  UpdatedAt,
} from '../fields.ts';
import { LargeString } from '../large-text.ts';
import { EmailFormat } from './templates.ts';

export const EmailKind = z
  .enum(['transactional', 'marketing', 'authentication'])
  .describe(
    'transactional: such as receipts and reminders; marketing: not sent to recipients who opted out of marketing; authentication: for one-time codes',
  );
export const EmailStatus = z
  .enum(['queued', 'sent', 'delivered', 'failed', 'cancelled'])
  .describe(
    'queued: accepted or scheduled; sent: handed over to the relay, not yet delivered or failed; delivered: accepted by the recipient’s mail server; failed: see reason',
  );

export const EmailReason = z
  .object({
    category: z
      .enum(['hard_bounce', 'soft_bounce', 'complaint', 'suppressed', 'rejected', 'failed'])
      .describe(
        'hard_bounce: the mail server refused it permanently; soft_bounce: the mail server refused it temporarily, too many times; complaint: the recipient reported it as spam; suppressed: the address is on the suppression list; rejected: the email could not be composed or was not allowed; failed: any other cause',
      ),
    code: z.string().meta({ description: 'The cause, for programs', example: 'mailbox_unknown' }),
    description: z.string().nullable().describe('The answer of the mail server, if there is one'),
    retryable: z.boolean().describe('Whether sending it again later may succeed'),
  })
  .meta({ id: 'EmailReason', description: 'Why an email failed, is delayed, or was reported as spam' });

export const Email = z
  .object({
    id: Id('email'),
    kind: EmailKind,
    sender: z.string().describe('As you gave it: an address, or a name and an address'),
    recipient: z.string().nullable().describe('null without the scope recipients.read'),
    subject: z.string().nullable().describe('The rendered subject; null without the scope content.read'),
    content: z
      .object({
        html: z.null().describe('Always null: the HTML is not kept after sending'),
        text: z.string().nullable().describe('An excerpt of the text, of up to 2000 characters'),
      })
      .optional()
      .describe('Absent without the scope content.read'),
    status: EmailStatus,
    reason: EmailReason.optional().describe(
      'Why the email failed, why it is tried again, or that it was reported as spam; left out if there is no reason',
    ),
    clientReference: ownReference,
    clientTag: ownTag,
    openCount: z.int32().describe('How often the tracking image was loaded'),
    createdAt: CreatedAt,
    scheduledAt: Timestamp.nullable().describe('When it is to be sent; null: at once'),
    sentAt: Timestamp.nullable().describe('When it was handed over to the relay'),
    deliveredAt: Timestamp.nullable().describe('When the recipient’s mail server accepted it'),
    openedAt: Timestamp.nullable().describe('When the tracking image was first loaded'),
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'Email', description: 'One email: its content and its status' });
export type Email = z.infer<typeof Email>;

export const EmailPage = pageOf(Email, 'EmailPage');

const source = (part: string) =>
  text({ max: 1_000_000, multiline: true }).describe(`${part}; Liquid source, rendered with template.data`);

const NewAttachment = z
  .object({
    filename: text({ min: 1, max: 255 }).meta({
      description: 'The name that the recipient sees, without folders and invisible characters',
      example: 'invoice.pdf',
    }),
    contentType: text({ min: 1, max: 255 }).meta({
      description: 'A MIME type. The recipient gets the type that belongs to the file name instead',
      example: 'application/pdf',
    }),
    content: LargeString.meta({
      description: 'Base64 with padding, without line breaks',
      example: 'aGVsbG8K',
    }),
  })
  .meta({ id: 'NewAttachment', description: 'A file that an email carries' });

export const NewEmail = z
  .object({
    sender: text({ min: 1, max: 256 }).meta({
      description:
        'An address of a verified sending domain, or the shared test sender, which reaches verified test recipients only; `a@b.c` or `Name <a@b.c>`',
      example: 'Acme <hello@acme.example>',
    }),
    recipient: text({ min: 1, max: 256 }).meta({
      description: 'Exactly one address; `a@b.c` or `Name <a@b.c>`',
      example: 'ada@example.com',
    }),
    subject: text({ min: 1, max: 256 }).describe('Liquid source, rendered with template.data'),
    content: z
      .object({
        html: source('HTML, or MJML when format is mjml').nullish(),
        text: source('Plain-text alternative').nullish(),
      })
      .nullish()
      .describe(
        'Provide exactly one of content and template.name. In content, at least one of html and text must not be empty. With kind marketing, {{ unsubscribeUrl }} is the opt-out link, here and in templates',
      ),
    template: z
      .object({
        name: text({ max: 64 }).nullish().meta({
          description: 'The name of a stored template',
          example: 'welcome',
        }),
        data: JsonObject.nullish().meta({
          description: 'The values that Liquid merges',
          example: { name: 'Ada' },
        }),
      })
      .nullish()
      .describe('The name of a stored template, and the values that Liquid merges'),
    format: EmailFormat.nullish().describe('The format of content.html; default html'),
    kind: EmailKind.nullish(),
    clientReference: text({ max: 64 })
      .nullish()
      .describe('Your own reference; the email and its events have it'),
    clientTag: text({ max: 64 })
      .nullish()
      .describe(
        'Your own tag, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen',
      ),
    scheduledAt: Moment.nullish().describe(
      'When to send it: more than 5 minutes and less than 3 months ahead',
    ),
    trackOpens: z
      .boolean()
      .nullish()
      .describe('true counts opens, with an image of one pixel in the HTML; default false'),
    bypassSuppressions: z
      .boolean()
      .nullish()
      .describe('true sends to a suppressed address too; a connected app cannot set it to true'),
    attachments: z
      .array(NewAttachment)
      .max(100)
      .nullish()
      .describe('The decoded attachments together have at most 30000000 bytes'),
  })
  .meta({ id: 'NewEmail', description: 'An email to be sent: from content, or from a stored template' });
export type NewEmail = z.infer<typeof NewEmail>;

export const EmailFilter = z.object({
  status: EmailStatus.optional().meta({ param: { description: 'Emails that have this status now' } }),
  recipient: text({ min: 1, max: 256 })
    .optional()
    .describe('The whole address of the recipient; upper and lower case are the same'),
  clientReference: text({ max: 64 }).optional().describe('The clientReference of the email, as you gave it'),
  clientTag: tagFilter('The clientTag of the email, in upper or lower case'),
  kind: EmailKind.optional().meta({ param: { description: 'Emails of this kind' } }),
  ...messagePageQuery,
});
export type EmailFilter = z.infer<typeof EmailFilter>;

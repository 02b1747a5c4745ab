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
  .describe('marketing obeys marketing opt-outs; authentication is for one-time codes');
export const EmailStatus = z
  .enum(['queued', 'sent', 'delivered', 'failed', 'cancelled'])
  .describe(
    'queued: accepted or scheduled; sent: handed over, outcome awaited; delivered: accepted by the recipient’s mail server; failed: see reason',
  );

export const EmailReason = z
  .object({
    category: z
      .enum(['hard_bounce', 'soft_bounce', 'complaint', 'suppressed', 'rejected', 'failed'])
      .describe(
        'hard_bounce: refused for good; soft_bounce: refused for now, too often; complaint: reported as spam; suppressed: the address is on the suppression list; rejected: it could not be composed or was not allowed; failed: anything else',
      ),
    code: z.string().meta({ description: 'The cause, for programs', example: 'mailbox_unknown' }),
    description: z.string().nullable().describe('What the mail server said, where it said something'),
    retryable: z.boolean().describe('Sending again later may succeed'),
  })
  .meta({ id: 'EmailReason', description: 'Why an email failed, or what its recipient’s side said' });

export const Email = z
  .object({
    id: Id('email'),
    kind: EmailKind,
    sender: z.string().describe('As it was given: an address, or a name and an address'),
    recipient: z.string().nullable().describe('null without the scope recipients.read'),
    subject: z.string().nullable().describe('As rendered; null without the scope content.read'),
    content: z
      .object({
        html: z.null().describe('Not kept after sending'),
        text: z.string().nullable().describe('An excerpt of up to 2000 characters'),
      })
      .optional()
      .describe('Absent without the scope content.read'),
    status: EmailStatus,
    reason: EmailReason.optional().describe(
      'Why it failed, why it is tried again, or that it was reported as spam; left out while there is none',
    ),
    clientReference: ownReference,
    clientTag: ownTag,
    openCount: z.int32().describe('Loads of the tracking image'),
    createdAt: CreatedAt,
    scheduledAt: Timestamp.nullable().describe('When it is to go out; null: at once'),
    sentAt: Timestamp.nullable().describe('When it was handed over to the relay'),
    deliveredAt: Timestamp.nullable().describe('When the recipient’s mail server accepted it'),
    openedAt: Timestamp.nullable().describe('When the tracking image was loaded first'),
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'Email', description: 'One email: what was sent, and what became of it' });
export type Email = z.infer<typeof Email>;

export const EmailPage = pageOf(Email, 'EmailPage');

const source = (part: string) =>
  text({ max: 1_000_000, multiline: true }).describe(`${part}; Liquid, rendered with template.data`);

const NewAttachment = z
  .object({
    filename: text({ min: 1, max: 255 }).meta({
      description: 'As the recipient sees it, without folders and characters that do not show',
      example: 'invoice.pdf',
    }),
    contentType: text({ min: 1, max: 255 }).meta({
      description: 'A MIME type; the one that the recipient gets is worked out from the file name',
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
    subject: text({ min: 1, max: 256 }).describe('Liquid, rendered with template.data'),
    content: z
      .object({
        html: source('HTML, or MJML when format is mjml').nullish(),
        text: source('Plain-text alternative').nullish(),
      })
      .nullish()
      .describe(
        'Provide exactly one of content and template.name; html or text that is not empty. In kind marketing {{ unsubscribeUrl }} is the opt-out link, here as in templates',
      ),
    template: z
      .object({
        name: text({ max: 64 }).nullish().meta({ description: 'Of a stored template', example: 'welcome' }),
        data: JsonObject.nullish().meta({
          description: 'The values that Liquid merges',
          example: { name: 'Ada' },
        }),
      })
      .nullish()
      .describe('name of a stored template, and the values that Liquid merges'),
    format: EmailFormat.nullish().describe('What content.html is; default html'),
    kind: EmailKind.nullish(),
    clientReference: text({ max: 64 }).nullish().describe('Returned on the email and its events'),
    clientTag: text({ max: 64 })
      .nullish()
      .describe('Stored in lower case; what is no letter or digit of any script becomes a hyphen'),
    scheduledAt: Moment.nullish().describe('More than 5 minutes and less than 3 months ahead'),
    trackOpens: z
      .boolean()
      .nullish()
      .describe('Counts opens by an image of one pixel in the HTML; default false'),
    bypassSuppressions: z.boolean().nullish().describe('A connected app cannot set it to true'),
    attachments: z
      .array(NewAttachment)
      .max(100)
      .nullish()
      .describe('Together at most 30000000 bytes once decoded'),
  })
  .meta({ id: 'NewEmail', description: 'An email to be sent: from content, or from a stored template' });
export type NewEmail = z.infer<typeof NewEmail>;

export const EmailFilter = z.object({
  status: EmailStatus.optional().meta({ param: { description: 'Emails that have this status now' } }),
  recipient: text({ min: 1, max: 256 }).optional().describe('The whole address, whatever its case'),
  clientReference: text({ max: 64 }).optional().describe('Of the email, as it was given'),
  clientTag: tagFilter('Of the email, in any case'),
  kind: EmailKind.optional().meta({ param: { description: 'Emails of this kind' } }),
  ...messagePageQuery,
});
export type EmailFilter = z.infer<typeof EmailFilter>;

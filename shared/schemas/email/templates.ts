import { z } from 'zod';
import { CreatedAt, change, Id, JsonObject, pageOf, Timestamp, text } from '../fields.ts';
import { SampleData } from '../sample-data.ts';

export const mostEmailTemplates = 1_000;

/** The name of a template or an include; names are compared as bytes. */
export const EmailSourceName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens or underscores')
  .meta({
    description: '1 to 64 letters, digits, hyphens or underscores; upper and lower case are different',
    example: 'welcome',
  });

export const EmailFormat = z.enum(['html', 'mjml']).describe('mjml is compiled to HTML before sending');
export type EmailFormat = z.infer<typeof EmailFormat>;

export const EmailTemplate = z
  .object({
    id: Id('etemplate'),
    name: EmailSourceName,
    description: z.string().nullable().describe('A note for yourself; recipients do not see it'),
    format: EmailFormat,
    html: z.string().describe('Liquid source, or MJML with Liquid'),
    text: z.string().describe('The plain-text alternative, as Liquid source; empty if there is none'),
    sampleData: JsonObject.nullable().describe(
      'The values that the template was tested with when it was saved',
    ),
    createdAt: CreatedAt,
    updatedAt: Timestamp.describe('When name, description, format or sampleData last changed'),
  })
  .meta({ id: 'EmailTemplate', description: 'A stored email template' });
export type EmailTemplate = z.infer<typeof EmailTemplate>;

export const EmailTemplatePage = pageOf(EmailTemplate, 'EmailTemplatePage');

const fields = {
  description: text({ max: 256, multiline: true }).describe('A note for yourself; recipients do not see it'),
  format: EmailFormat.describe('mjml is compiled with the includes of the workspace before sending'),
  html: text({ min: 1, max: 1_000_000, multiline: true }).describe(
    'Liquid source. Values are escaped for HTML, except after `| raw`',
  ),
  text: text({ max: 1_000_000, multiline: true }).describe('The plain-text alternative, as Liquid source'),
  sampleData: SampleData,
};

export const NewEmailTemplate = z
  .object({
    name: EmailSourceName,
    description: fields.description.nullish(),
    format: fields.format.nullish().describe('Default html'),
    html: fields.html,
    text: fields.text.nullish(),
    sampleData: fields.sampleData.nullish(),
  })
  .meta({ id: 'NewEmailTemplate', description: 'A new email template' });
export type NewEmailTemplate = z.infer<typeof NewEmailTemplate>;

export const EmailTemplateChanges = z
  .object({
    name: change('stays', EmailSourceName),
    description: change('stays', fields.description, 'An empty text clears it'),
    format: change('stays', fields.format),
    html: change('stays', fields.html),
    text: change('stays', fields.text),
    sampleData: change('stays', fields.sampleData),
  })
  .meta({
    id: 'EmailTemplateChanges',
    description:
      'The changes of a template. A field that is left out or null stays unchanged. An empty description or text clears the field',
  });
export type EmailTemplateChanges = z.infer<typeof EmailTemplateChanges>;

export const EmailTemplateRendering = z
  .object({
    data: JsonObject.nullish().describe(
      'The values that Liquid merges; default: the sampleData of the template',
    ),
    subject: text({ min: 1, max: 256 }).nullish().describe('Liquid source, rendered with the same data'),
  })
  .meta({ id: 'EmailTemplateRendering', description: 'The values that Liquid merges' });
export type EmailTemplateRendering = z.infer<typeof EmailTemplateRendering>;

export const RenderedEmailTemplate = z
  .object({
    subject: z.string().optional().describe('The rendered subject, if the request had one'),
    html: z.string().describe('The HTML as it would be sent; MJML is compiled'),
    text: z.string().describe('The plain text; empty if the template has none'),
  })
  .meta({ id: 'RenderedEmailTemplate', description: 'The email that the template makes with these values' });
export type RenderedEmailTemplate = z.infer<typeof RenderedEmailTemplate>;

import { z } from 'zod';
import { CreatedAt, change, Id, JsonObject, pageOf, Timestamp, text } from '../fields.ts';
import { SampleData } from '../sample-data.ts';

export const mostEmailTemplates = 1_000;

/** The name of a template or an include; names are compared as bytes. */
export const EmailSourceName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens or underscores')
  .meta({
    description: '1 to 64 letters, digits, hyphens or underscores; it compares as bytes',
    example: 'welcome',
  });

export const EmailFormat = z.enum(['html', 'mjml']).describe('mjml is compiled to HTML before sending');
export type EmailFormat = z.infer<typeof EmailFormat>;

export const EmailTemplate = z
  .object({
    id: Id('etemplate'),
    name: EmailSourceName,
    description: z.string().nullable().describe('For yourself; recipients do not see it'),
    format: EmailFormat,
    html: z.string().describe('Liquid source, or MJML with Liquid'),
    text: z.string().describe('Liquid plain-text alternative; empty when there is none'),
    sampleData: JsonObject.nullable().describe('What it was tried with when it was saved'),
    createdAt: CreatedAt,
    updatedAt: Timestamp.describe('Changes when name, description, format or sampleData change'),
  })
  .meta({ id: 'EmailTemplate', description: 'A stored source of emails' });
export type EmailTemplate = z.infer<typeof EmailTemplate>;

export const EmailTemplatePage = pageOf(EmailTemplate, 'EmailTemplatePage');

const fields = {
  description: text({ max: 256, multiline: true }).describe('For yourself; recipients do not see it'),
  format: EmailFormat.describe('mjml is compiled with the includes of the workspace before sending'),
  html: text({ min: 1, max: 1_000_000, multiline: true }).describe(
    'Liquid, with values escaped for HTML except after `| raw`',
  ),
  text: text({ max: 1_000_000, multiline: true }).describe('Plain-text alternative; Liquid'),
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
  .meta({ id: 'NewEmailTemplate', description: 'A source of emails to be stored' });
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
    description: 'What is left out or null stays; an empty description clears, and so does an empty text',
  });
export type EmailTemplateChanges = z.infer<typeof EmailTemplateChanges>;

export const EmailTemplateRendering = z
  .object({
    data: JsonObject.nullish().describe(
      'The values that Liquid merges; default the sampleData of the template',
    ),
    subject: text({ min: 1, max: 256 }).nullish().describe('Liquid, rendered with the same data'),
  })
  .meta({ id: 'EmailTemplateRendering', description: 'The values that Liquid merges' });
export type EmailTemplateRendering = z.infer<typeof EmailTemplateRendering>;

export const RenderedEmailTemplate = z
  .object({
    subject: z.string().optional().describe('Only when one was given'),
    html: z.string().describe('As it would be sent; MJML is compiled'),
    text: z.string().describe('Empty when the template has none'),
  })
  .meta({ id: 'RenderedEmailTemplate', description: 'What the template comes to with these values' });
export type RenderedEmailTemplate = z.infer<typeof RenderedEmailTemplate>;

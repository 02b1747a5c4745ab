import { z } from 'zod';
import { CreatedAt, change, Id, JsonObject, pageOf, text, UpdatedAt } from './fields.ts';
import { SampleData } from './sample-data.ts';
import { SmsEncoding } from './sms/parts.ts';

export const mostSmsTemplates = 1_000;

export const SmsTemplate = z
  .object({
    id: Id('template'),
    name: z.string().describe('Unique in the workspace'),
    description: z.string().nullable().describe('A note for yourself; recipients do not see it'),
    content: z.string().describe('Liquid source'),
    sampleData: JsonObject.nullable().describe(
      'The values that the template was tested with when it was saved',
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'SmsTemplate', description: 'A stored SMS template' });
export type SmsTemplate = z.infer<typeof SmsTemplate>;

export const SmsTemplatePage = pageOf(SmsTemplate, 'SmsTemplatePage');

const fields = {
  name: text({ min: 1, max: 64, blank: false }).meta({
    description: 'Unique in the workspace; compared byte by byte, so upper and lower case are different',
    example: 'Appointment reminder',
  }),
  description: text({ max: 1_000, multiline: true }).describe(
    'A note for yourself; recipients do not see it',
  ),
  content: text({ min: 1, max: 10_000, multiline: true }).meta({
    description: 'Liquid source; the rendered text must fit into one message',
    example: 'Dear {{ name }}, see you on {{ day }}.',
  }),
  sampleData: SampleData,
};

export const NewSmsTemplate = z
  .object({
    name: fields.name,
    description: fields.description.nullish(),
    content: fields.content,
    sampleData: fields.sampleData.nullish(),
  })
  .meta({ id: 'NewSmsTemplate', description: 'A new SMS template' });
export type NewSmsTemplate = z.infer<typeof NewSmsTemplate>;

export const SmsTemplateChanges = z
  .object({
    name: change('stays', fields.name),
    description: change('stays', fields.description, 'An empty text clears it'),
    content: change('stays', fields.content),
    sampleData: change('stays', fields.sampleData),
  })
  .meta({
    id: 'SmsTemplateChanges',
    description:
      'The changes of a template. A field that is left out or null stays unchanged. An empty description clears the description',
  });
export type SmsTemplateChanges = z.infer<typeof SmsTemplateChanges>;

export const SmsTemplateRendering = z
  .object({
    data: JsonObject.nullish().describe(
      'The values that Liquid merges; default: the sampleData of the template',
    ),
  })
  .meta({ id: 'SmsTemplateRendering', description: 'The values that Liquid merges' });
export type SmsTemplateRendering = z.infer<typeof SmsTemplateRendering>;

export const RenderedSmsTemplate = z
  .object({
    content: z.string().describe('The text as it would be sent'),
    parts: z.int32().min(1).describe('How many SMS parts the text has'),
    encoding: SmsEncoding,
  })
  .meta({ id: 'RenderedSmsTemplate', description: 'The text with these values, its parts and its encoding' });
export type RenderedSmsTemplate = z.infer<typeof RenderedSmsTemplate>;

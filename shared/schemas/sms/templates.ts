import { z } from 'zod';
import { CreatedAt, change, Id, JsonObject, pageOf, text, UpdatedAt } from '../fields.ts';
import { SampleData } from '../sample-data.ts';
import { SmsEncoding } from './parts.ts';

export const mostSmsTemplates = 1_000;

export const SmsTemplate = z
  .object({
    id: Id('template'),
    name: z.string().describe('Unique in the workspace'),
    description: z.string().nullable().describe('For yourself; recipients do not see it'),
    content: z.string().describe('Liquid source'),
    sampleData: JsonObject.nullable().describe('What it was tried with when it was saved'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'SmsTemplate', description: 'A stored source of texts' });
export type SmsTemplate = z.infer<typeof SmsTemplate>;

export const SmsTemplatePage = pageOf(SmsTemplate, 'SmsTemplatePage');

const fields = {
  name: text({ min: 1, max: 64, blank: false }).meta({
    description: 'Unique in the workspace; it compares as bytes',
    example: 'Appointment reminder',
  }),
  description: text({ max: 1_000, multiline: true }).describe('For yourself; recipients do not see it'),
  content: text({ min: 1, max: 10_000, multiline: true }).meta({
    description: 'Liquid; what it renders to must fit in a message',
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
  .meta({ id: 'NewSmsTemplate', description: 'A source of texts to be stored' });
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
    description: 'What is left out or null stays; an empty description clears',
  });
export type SmsTemplateChanges = z.infer<typeof SmsTemplateChanges>;

export const SmsTemplateRendering = z
  .object({
    data: JsonObject.nullish().describe(
      'The values that Liquid merges; default the sampleData of the template',
    ),
  })
  .meta({ id: 'SmsTemplateRendering', description: 'The values that Liquid merges' });
export type SmsTemplateRendering = z.infer<typeof SmsTemplateRendering>;

export const RenderedSmsTemplate = z
  .object({
    content: z.string().describe('As it would be sent'),
    parts: z.int32().min(1).describe('Messages of the network that it takes'),
    encoding: SmsEncoding,
  })
  .meta({ id: 'RenderedSmsTemplate', description: 'The text with these values, its parts and its encoding' });
export type RenderedSmsTemplate = z.infer<typeof RenderedSmsTemplate>;

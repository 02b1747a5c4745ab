import { z } from 'zod';
import { CreatedAt, Id, pageOf, text } from './fields.ts';
import { SmsDirection } from './sms/sms.ts';

/** The texts that are shown of each phone. */
export const textsShown = 20;

export const SimulatorPhone = z
  .object({
    id: Id('phone'),
    number: z.string().meta({ description: 'E.164', example: '+447700900123' }),
    messages: z
      .array(
        z.object({
          direction: SmsDirection.describe('As the workspace sees it'),
          from: z.string().describe('A name, or a number in E.164'),
          to: z.string().describe('A name, or a number in E.164'),
          content: z.string().describe('The text'),
          parts: z.int32().describe('Messages of the network that it takes'),
          createdAt: CreatedAt,
        }),
      )
      .describe(`The last ${textsShown} texts, oldest first`),
    createdAt: CreatedAt,
  })
  .meta({
    id: 'SimulatorPhone',
    description: 'A phone of the simulator, with the texts that it got and sent',
  });
export type SimulatorPhone = z.infer<typeof SimulatorPhone>;

export const SimulatorPhonePage = pageOf(SimulatorPhone, 'SimulatorPhonePage');

export const SimulatorText = z
  .object({
    content: text({ min: 1, max: 1_600, multiline: true }).meta({
      description: 'What the phone texts',
      example: 'Yes please',
    }),
    to: text({ min: 1, max: 40 })
      .nullish()
      .describe(
        'An approved sender of the workspace; default the one of the last text to the phone, else that of the workspace',
      ),
  })
  .meta({ id: 'SimulatorText', description: 'A text that the phone sends' });
export type SimulatorText = z.infer<typeof SimulatorText>;

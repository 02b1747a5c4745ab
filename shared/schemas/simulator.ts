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
          direction: SmsDirection.describe('The direction, as seen from the workspace'),
          from: z.string().describe('A name, or a number in E.164'),
          to: z.string().describe('A name, or a number in E.164'),
          content: z.string().describe('The text'),
          parts: z.int32().describe('How many SMS parts the text has'),
          createdAt: CreatedAt,
        }),
      )
      .describe(`The last ${textsShown} texts, oldest first`),
    createdAt: CreatedAt,
  })
  .meta({
    id: 'SimulatorPhone',
    description: 'A phone of the simulator, with the texts that it received and sent',
  });
export type SimulatorPhone = z.infer<typeof SimulatorPhone>;

export const SimulatorPhonePage = pageOf(SimulatorPhone, 'SimulatorPhonePage');

export const SimulatorText = z
  .object({
    content: text({ min: 1, max: 1_600, multiline: true }).meta({
      description: 'The text that the phone sends',
      example: 'Yes please',
    }),
    to: text({ min: 1, max: 40 })
      .nullish()
      .describe(
        'The approved sender of the workspace that gets the text. Default: the sender of the last text to the phone; if there is none, the default sender of the workspace',
      ),
  })
  .meta({ id: 'SimulatorText', description: 'A text that the phone sends' });
export type SimulatorText = z.infer<typeof SimulatorText>;

import { z } from 'zod';
import { CreatedAt, Id, pageOf, pageQuery, text } from './fields.ts';
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
          direction: SmsDirection.meta({ description: 'As the workspace sees it' }),
          from: z.string().meta({ description: 'A name, or a number in E.164' }),
          to: z.string().meta({ description: 'A name, or a number in E.164' }),
          content: z.string().meta({ description: 'The text' }),
          parts: z.int32().meta({ description: 'Messages of the network that it takes' }),
          createdAt: CreatedAt,
        }),
      )
      .meta({ description: `The last ${textsShown} texts, oldest first` }),
    createdAt: CreatedAt,
  })
  .meta({ id: 'SimulatorPhone' });
export type SimulatorPhone = z.infer<typeof SimulatorPhone>;

export const SimulatorPhonePage = pageOf(SimulatorPhone, 'SimulatorPhonePage');
export const SimulatorPhoneQuery = z.object(pageQuery);
export type SimulatorPhoneQuery = z.infer<typeof SimulatorPhoneQuery>;

export const SimulatorText = z
  .object({
    content: text({ min: 1, max: 1_600, multiline: true }).meta({
      description: 'What the phone texts',
      example: 'Yes please',
    }),
    to: text({ min: 1, max: 40 }).nullish().meta({
      description:
        'An approved sender of the workspace; default the one of the last text to the phone, else that of the workspace',
    }),
  })
  .meta({ id: 'SimulatorText' });
export type SimulatorText = z.infer<typeof SimulatorText>;

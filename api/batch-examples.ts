import type { NewSmsBatch } from '../shared/schemas/sms/batches.ts';
import { dayAfter, type Example } from './endpoint.ts';

/** Bodies of a batch, which is sent or only looked at. */
export const batchExamples: readonly Example<typeof NewSmsBatch>[] = [
  {
    name: 'minimal',
    summary: 'One text to two numbers',
    body: {
      content: 'Your parcel is here.',
      messages: [{ recipient: '+447700900123' }, { recipient: '+447700900124' }],
    },
  },
  {
    name: 'data',
    summary: 'Merge data of each message',
    body: {
      content: 'Dear {{ name }}, your parcel is here.',
      messages: [
        { recipient: '+447700900123', data: { name: 'Ada' } },
        { recipient: '+447700900124', data: { name: 'Grace' } },
      ],
    },
  },
  {
    name: 'scheduled',
    summary: 'Tomorrow',
    body: (at) => ({
      content: 'Your parcel comes today.',
      messages: [{ recipient: '+447700900123' }],
      scheduledAt: dayAfter(at),
    }),
  },
];

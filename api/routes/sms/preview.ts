import * as smsPreview from '../../../shared/domain/sms/preview.ts';
import { SmsPreview, SmsToPreview } from '../../../shared/schemas/sms/preview.ts';
import { resource } from '../../endpoint.ts';

const endpoint = resource('SMS');

export default [
  endpoint({
    route: 'POST /v2/sms/preview',
    id: 'previewSms',
    summary: 'See how many parts a text takes, and what they cost',
    description: 'Nothing is sent.',
    scope: 'sms.send',
    body: SmsToPreview,
    examples: [
      { name: 'minimal', summary: 'A text', body: { content: 'Your parcel is here.' } },
      {
        name: 'cost',
        summary: 'What it costs to a number',
        body: { content: 'Your parcel is here.', recipient: '+447700900123' },
      },
    ],
    response: SmsPreview,
    faults: ({ body }) => smsPreview.faultsOf(body),
    prepare: ({ body }) => smsPreview.preview(body),
    handle: ({ prepared }) => prepared,
  }),
];

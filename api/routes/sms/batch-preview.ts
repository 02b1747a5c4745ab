import * as smsBatches from '../../../shared/domain/sms/batches/batches.ts';
import { SmsBatchPreview } from '../../../shared/schemas/sms/batch-preview.ts';
import { NewSmsBatch } from '../../../shared/schemas/sms/batches.ts';
import { batchExamples } from '../../batch-examples.ts';
import { resource } from '../../endpoint.ts';

const endpoint = resource('SMS batches');

export default [
  endpoint({
    route: 'POST /v2/sms/batches/preview',
    id: 'previewSmsBatch',
    summary: 'See what a batch would come to: recipients, parts, cost, faults of rows',
    description:
      'It takes the body of a batch. Nothing is stored or sent, and what the batch would be refused for is refused here too. Up to 10,000 recipients are counted exactly; beyond that the figures are estimated. listIds needs the scopes lists.read and contacts.read. A workspace may run one preview at a time; a second one is refused with rate_limited.',
    scope: 'sms.send',
    body: NewSmsBatch,
    needsBody: true,
    examples: batchExamples,
    bodyLimitBytes: 8 * 1024 * 1024,
    bodyLimitValues: 500_000,
    response: SmsBatchPreview,
    problems: ['sending_blocked', 'limit_exceeded'],
    faults: ({ caller, body }) => smsBatches.faultsOf(caller, body),
    prepare: ({ caller, body }) => smsBatches.preview(caller, body),
    handle: ({ prepared }) => prepared,
  }),
];

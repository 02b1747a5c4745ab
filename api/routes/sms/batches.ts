import * as smsBatches from '../../../shared/domain/sms/batches/batches.ts';
import * as shortLinks from '../../../shared/domain/sms/short-links/short-links.ts';
import { Id } from '../../../shared/schemas/fields.ts';
import {
  CreatedSmsBatch,
  NewSmsBatch,
  NewSmsImport,
  SmsBatch,
  SmsBatchFilter,
  SmsBatchPage,
  SmsBatchPreview,
} from '../../../shared/schemas/sms/batches.ts';
import { BatchLinkPage } from '../../../shared/schemas/sms/short-links.ts';
import { batchExamples } from '../../batch-examples.ts';
import { resource } from '../../endpoint.ts';

const endpoint = resource('SMS batches', { id: Id('batch') });
const inFile = 'is not allowed: the rows of the file are the recipients';

/** A preview takes the body of a batch, with the same limits. */
const givenBatch = {
  body: NewSmsBatch,
  needsBody: true,
  examples: batchExamples,
  bodyLimitBytes: 8 * 1024 * 1024,
  bodyLimitValues: 500_000,
} as const;

export default [
  endpoint({
    route: 'POST /v2/sms/batches/preview',
    id: 'previewSmsBatch',
    summary: 'See what a batch would come to: recipients, parts, cost, faults of rows',
    description:
      'It takes the body of a batch. Nothing is stored or sent, and what the batch would be refused for is refused here too. Up to 10,000 recipients are counted exactly; beyond that the figures are estimated. listIds needs the scopes lists.read and contacts.read. A workspace may run one preview at a time; a second one is refused with rate_limited.',
    scope: 'sms.send',
    ...givenBatch,
    response: SmsBatchPreview,
    problems: ['sending_blocked', 'limit_exceeded'],
    faults: ({ caller, body }) => smsBatches.faultsOf(caller, body),
    prepare: ({ caller, body }) => smsBatches.preview(caller, body),
    handle: ({ prepared }) => prepared,
  }),
  endpoint({
    route: 'POST /v2/sms/batches',
    id: 'createSmsBatch',
    summary: 'Send texts to up to 10,000 numbers, or to the members of contact lists',
    description:
      'The batch is answered before any message of it is made; its counts say how far it has come. Messages that cannot be sent are told by their place, counting from 0, and the rest are taken. content is Liquid: `data`, and then the data of each message, are merged into it, and for members of lists `contact` with firstName, lastName, company, email, number, clientReference and tags. A batch that cannot be paid for is paused, and goes on by itself once it can.',
    scope: 'sms.send',
    ...givenBatch,
    status: 201,
    response: CreatedSmsBatch,
    problems: ['sending_blocked', 'limit_exceeded'],
    faults: ({ caller, body }) => smsBatches.faultsOf(caller, body),
    prepare: ({ caller, body }) => smsBatches.prepare(caller, body),
    handle: ({ caller, body, prepared }) => smsBatches.create(caller, body, prepared),
  }),
  endpoint({
    route: 'POST /v2/sms/batches/import',
    id: 'importSmsBatch',
    summary: 'Send texts to the numbers in a CSV file',
    description:
      'A form of `settings` and, behind it, `file`: CSV in UTF-8 with a header, of at most 500,000 rows and 200 columns, with commas, semicolons or tabs between them. All columns are merge data under their header, in which whatever is no letter, digit or _ is a _. Rows that cannot be sent are told by their place, counting from 0 without the header and empty rows; the rest are taken.',
    scope: 'sms.send',
    body: NewSmsImport,
    examples: [
      {
        name: 'minimal',
        summary: 'A file with names',
        body: { content: 'Dear {{ name }}, your parcel is here.' },
        file: 'recipient,name\n+447700900123,Ada\n+447700900124,Grace\n',
      },
    ],
    takesFile: true,
    notTaken: { messages: inFile, listIds: inFile, excludeLists: inFile },
    bodyLimitBytes: 20 * 1024 * 1024,
    status: 201,
    response: CreatedSmsBatch,
    location: ({ id }) => `/v2/sms/batches/${id}`,
    problems: ['sending_blocked', 'limit_exceeded'],
    faults: ({ caller, body }) => smsBatches.faultsOfImport(caller, body),
    prepare: ({ caller, body, upload }) => smsBatches.prepareImport(caller, body, upload),
    abandon: ({ caller, prepared }) => smsBatches.abandonImport(caller, prepared),
    handle: ({ caller, body, prepared }) => smsBatches.importFile(caller, body, prepared),
  }),
  endpoint({
    route: 'GET /v2/sms/batches',
    id: 'listSmsBatches',
    summary: 'List batches, newest first',
    description:
      'A batch must match all filters that are given. Where few match, a page may be short, or empty, and nextCursor goes on from there. The counts of a batch may be 5 seconds old.',
    scope: 'sms.read',
    query: SmsBatchFilter,
    response: SmsBatchPage,
    handle: ({ caller, query }) => smsBatches.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/sms/batches/{id}',
    id: 'getSmsBatch',
    summary: 'Get one batch',
    description: 'Its messages are listed by GET /v2/sms with batchId.',
    scope: 'sms.read',
    response: SmsBatch,
    handle: ({ caller, params }) => smsBatches.find(caller, params.id),
  }),
  endpoint({
    route: 'GET /v2/sms/batches/{id}/links',
    id: 'listSmsBatchLinks',
    summary: 'List the short links of one batch with their clicks, most clicks first',
    description:
      'By the URL as it was written, before Liquid put the data of each message in; the first 1,000.',
    scope: 'sms.read',
    response: BatchLinkPage,
    handle: ({ caller, params }) => shortLinks.listOfBatch(caller, params.id),
  }),
  endpoint({
    route: 'DELETE /v2/sms/batches/{id}',
    id: 'cancelSmsBatch',
    summary: 'Cancel a batch',
    description:
      'It is cancelled at once; what waits, and its queued messages that are not being sent, follow within moments.',
    scope: 'sms.send',
    response: SmsBatch,
    problems: ['not_cancellable'],
    handle: ({ caller, params }) => smsBatches.cancel(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/sms/batches/{id}/resume',
    id: 'resumeSmsBatch',
    summary: 'Resume a paused batch',
    description:
      'While what paused it stands, it stays paused. A batch whose key was revoked counts against the key of the caller from then on.',
    scope: 'sms.send',
    response: SmsBatch,
    problems: ['not_paused'],
    handle: ({ caller, params }) => smsBatches.resume(caller, params.id),
  }),
];

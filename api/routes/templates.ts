import * as smsTemplates from '../../shared/domain/templates.ts';
import { Id, SourcePageQuery } from '../../shared/schemas/fields.ts';
import {
  NewSmsTemplate,
  RenderedSmsTemplate,
  SmsTemplate,
  SmsTemplateChanges,
  SmsTemplatePage,
  SmsTemplateRendering,
} from '../../shared/schemas/templates.ts';
import { resource } from '../endpoint.ts';

const endpoint = resource('SMS templates', { id: Id('template') });
const checked =
  'The content is checked: Liquid must parse. With sampleData it is rendered too, and must fit in a message.';

export default [
  endpoint({
    route: 'POST /v2/templates',
    id: 'createSmsTemplate',
    summary: 'Create an SMS template',
    description: checked,
    scope: 'templates.write',
    body: NewSmsTemplate,
    examples: [
      {
        name: 'minimal',
        summary: 'A text with merge data',
        body: { name: 'Parcel arrived', content: 'Dear {{ name }}, your parcel is here.' },
      },
    ],
    status: 201,
    response: SmsTemplate,
    problems: ['name_taken', 'limit_exceeded'],
    faults: ({ caller, body }) => smsTemplates.faultsOfNew(caller, body),
    prepare: ({ caller, body }) => smsTemplates.prepareNew(caller, body),
    handle: ({ caller, prepared }) => smsTemplates.create(caller, prepared),
  }),
  endpoint({
    route: 'GET /v2/templates',
    id: 'listSmsTemplates',
    summary: 'List SMS templates, newest first',
    description:
      'They come with their sources, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 1,000.',
    scope: 'templates.read',
    query: SourcePageQuery,
    response: SmsTemplatePage,
    handle: ({ caller, query }) => smsTemplates.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/templates/{id}',
    id: 'getSmsTemplate',
    summary: 'Get one SMS template',
    description:
      'The content comes as it was stored, with nothing merged into it; renderSmsTemplate shows what a message would hold.',
    scope: 'templates.read',
    response: SmsTemplate,
    handle: ({ caller, params }) => smsTemplates.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/templates/{id}',
    id: 'updateSmsTemplate',
    summary: 'Change an SMS template',
    description: `${checked} Messages that were accepted before are sent as they were rendered then.`,
    scope: 'templates.write',
    body: SmsTemplateChanges,
    examples: [
      {
        name: 'minimal',
        summary: 'Another text',
        body: { content: 'Dear {{ name }}, your parcel is waiting for you.' },
      },
    ],
    response: SmsTemplate,
    problems: ['name_taken'],
    faults: ({ caller, params, body }) => smsTemplates.faultsOfChange(caller, params.id ?? '', body),
    prepare: ({ caller, params, body }) => smsTemplates.prepareChange(caller, params.id, body),
    handle: ({ caller, prepared }) => smsTemplates.change(caller, prepared),
  }),
  endpoint({
    route: 'DELETE /v2/templates/{id}',
    id: 'deleteSmsTemplate',
    summary: 'Delete an SMS template',
    description: 'Messages that were accepted before are sent all the same.',
    scope: 'templates.write',
    handle: ({ caller, params }) => smsTemplates.remove(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/templates/{id}/render',
    id: 'renderSmsTemplate',
    summary: 'See what a message of a template would hold',
    description: 'Nothing is sent.',
    scope: 'templates.read',
    body: SmsTemplateRendering,
    examples: [{ name: 'minimal', summary: 'With data', body: { data: { name: 'Ada' } } }],
    response: RenderedSmsTemplate,
    prepare: ({ caller, params, body }) => smsTemplates.render(caller, params.id, body),
    handle: ({ prepared }) => prepared,
  }),
];

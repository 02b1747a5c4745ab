import * as emailTemplates from '../../../shared/domain/email/templates.ts';
import {
  EmailTemplate,
  EmailTemplateChanges,
  EmailTemplatePage,
  EmailTemplateRendering,
  NewEmailTemplate,
  RenderedEmailTemplate,
} from '../../../shared/schemas/email/templates.ts';
import { Id, SourcePageQuery } from '../../../shared/schemas/fields.ts';
import { resource } from '../../endpoint.ts';

const endpoint = resource('Email templates', { id: Id('etemplate') });
const bodyLimitBytes = 8 * 1024 * 1024;
const checked =
  'The source is checked: Liquid must parse, and MJML must compile with the includes of the workspace. With sampleData it is rendered too.';

export default [
  endpoint({
    route: 'POST /v2/email/templates',
    id: 'createEmailTemplate',
    summary: 'Create an email template',
    description: checked,
    scope: 'templates.write',
    body: NewEmailTemplate,
    examples: [
      {
        name: 'minimal',
        summary: 'HTML with merge data',
        body: { name: 'order-shipped', html: '<p>Dear {{ name }}, your order is on its way.</p>' },
      },
      {
        name: 'mjml',
        summary: 'MJML, tried with sample data',
        body: {
          name: 'newsletter',
          format: 'mjml',
          html: '<mjml><mj-body><mj-section><mj-column><mj-text>Dear {{ name }}, this is our news.</mj-text><mj-text><a href="{{ unsubscribeUrl }}">Unsubscribe</a></mj-text></mj-column></mj-section></mj-body></mjml>',
          text: 'Dear {{ name }}, this is our news. Unsubscribe: {{ unsubscribeUrl }}',
          sampleData: { name: 'Ada' },
        },
      },
    ],
    bodyLimitBytes,
    status: 201,
    response: EmailTemplate,
    problems: ['name_taken', 'limit_exceeded'],
    faults: ({ caller, body }) => emailTemplates.faultsOfNew(caller, body),
    prepare: ({ caller, body }) => emailTemplates.prepareNew(caller, body),
    handle: ({ caller, prepared }) => emailTemplates.create(caller, prepared),
  }),
  endpoint({
    route: 'GET /v2/email/templates',
    id: 'listEmailTemplates',
    summary: 'List email templates, newest first',
    description:
      'They come with their sources, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 1,000.',
    scope: 'templates.read',
    query: SourcePageQuery,
    response: EmailTemplatePage,
    handle: ({ caller, query }) => emailTemplates.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/email/templates/{id}',
    id: 'getEmailTemplate',
    summary: 'Get one email template',
    description:
      'The sources html and text come as they were stored: nothing is merged, compiled or included; renderEmailTemplate shows what an email would hold. updatedAt does not move when html or text alone are changed.',
    scope: 'templates.read',
    response: EmailTemplate,
    handle: ({ caller, params }) => emailTemplates.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/email/templates/{id}',
    id: 'updateEmailTemplate',
    summary: 'Change an email template',
    description: `${checked} Emails that were accepted before are sent as they were rendered then.`,
    scope: 'templates.write',
    body: EmailTemplateChanges,
    examples: [
      {
        name: 'minimal',
        summary: 'Another description',
        body: { description: 'Goes out when an order leaves the warehouse' },
      },
      {
        name: 'source',
        summary: 'Another source',
        body: { html: '<p>Dear {{ name }}, your order left today.</p>' },
      },
    ],
    bodyLimitBytes,
    response: EmailTemplate,
    problems: ['name_taken'],
    faults: ({ caller, params, body }) => emailTemplates.faultsOfChange(caller, params.id ?? '', body),
    prepare: ({ caller, params, body }) => emailTemplates.prepareChange(caller, params.id, body),
    handle: ({ caller, prepared }) => emailTemplates.change(caller, prepared),
  }),
  endpoint({
    route: 'DELETE /v2/email/templates/{id}',
    id: 'deleteEmailTemplate',
    summary: 'Delete an email template',
    description: 'Emails that were accepted before are sent all the same.',
    scope: 'templates.write',
    handle: ({ caller, params }) => emailTemplates.remove(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/email/templates/{id}/render',
    id: 'renderEmailTemplate',
    summary: 'See what an email of a template would hold',
    description: 'Nothing is sent.',
    scope: 'templates.read',
    body: EmailTemplateRendering,
    examples: [
      { name: 'minimal', summary: 'With data', body: { data: { name: 'Ada' } } },
      {
        name: 'subject',
        summary: 'With a subject too',
        body: { data: { name: 'Ada' }, subject: 'Good news, {{ name }}' },
      },
    ],
    response: RenderedEmailTemplate,
    faults: ({ caller, body }) => emailTemplates.faultsOfRendering(caller, body),
    prepare: ({ caller, params, body }) => emailTemplates.render(caller, params.id, body),
    handle: ({ prepared }) => prepared,
  }),
];

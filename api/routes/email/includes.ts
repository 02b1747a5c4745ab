import * as emailIncludes from '../../../shared/domain/email/includes.ts';
import {
  EmailInclude,
  EmailIncludeContent,
  EmailIncludePage,
} from '../../../shared/schemas/email/includes.ts';
import { EmailSourceName } from '../../../shared/schemas/email/templates.ts';
import { SourcePageQuery } from '../../../shared/schemas/fields.ts';
import { Other, resource } from '../../endpoint.ts';

const endpoint = resource('Email includes', { name: EmailSourceName });

export default [
  endpoint({
    route: 'GET /v2/email/includes',
    id: 'listEmailIncludes',
    summary: 'List email includes, newest first',
    description:
      'They come with their content, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 200.',
    scope: 'templates.read',
    query: SourcePageQuery,
    response: EmailIncludePage,
    handle: ({ caller, query }) => emailIncludes.list(caller, query),
  }),
  endpoint({
    route: 'PUT /v2/email/includes/{name}',
    id: 'saveEmailInclude',
    summary: 'Create or replace an email include',
    description:
      'Templates take the new content from their next email on; they are not checked again, so it may make one fail. Includes may be nested 5 levels deep.',
    scope: 'templates.write',
    body: EmailIncludeContent,
    examples: [
      {
        name: 'minimal',
        summary: 'A footer',
        body: { content: '<mj-text>Acme Ltd, 1 Example Street, London</mj-text>' },
      },
    ],
    status: 201,
    otherStatus: { status: 200, description: 'Replaced' },
    response: EmailInclude,
    location: ({ name }) => `/v2/email/includes/${name}`,
    problems: ['limit_exceeded'],
    faults: ({ caller, params, body }) => emailIncludes.faultsOfSave(caller, params.name, body),
    handle: async ({ caller, params, body }) => {
      const { include, isNew } = await emailIncludes.save(caller, params.name, body);
      return isNew ? include : new Other(include);
    },
  }),
  endpoint({
    route: 'GET /v2/email/includes/{name}',
    id: 'getEmailInclude',
    summary: 'Get one email include',
    description:
      'An include is found by the name that templates use for it. Its content is the source as it was stored; other includes that it names are not put in.',
    scope: 'templates.read',
    response: EmailInclude,
    handle: ({ caller, params }) => emailIncludes.find(caller, params.name),
  }),
  endpoint({
    route: 'DELETE /v2/email/includes/{name}',
    id: 'deleteEmailInclude',
    summary: 'Delete an email include',
    description: 'One that a template uses, directly or through other includes, stays.',
    scope: 'templates.write',
    problems: ['in_use'],
    handle: ({ caller, params }) => emailIncludes.remove(caller, params.name),
  }),
];

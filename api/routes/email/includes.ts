import { z } from 'zod';
import * as emailIncludes from '../../../shared/domain/email/includes.ts';
import {
  EmailInclude,
  EmailIncludeContent,
  EmailIncludePage,
} from '../../../shared/schemas/email/includes.ts';
import { EmailSourceName } from '../../../shared/schemas/email/templates.ts';
import { SourcePageQuery } from '../../../shared/schemas/fields.ts';
import { endpoint, Other } from '../../endpoint.ts';

const tag = 'Email includes';
const params = z.object({ name: EmailSourceName });

export default [
  endpoint({
    method: 'get',
    path: '/v2/email/includes',
    id: 'listEmailIncludes',
    tag,
    summary: 'List email includes, newest first',
    description:
      'They come with their content, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 200.',
    scope: 'templates.read',
    query: SourcePageQuery,
    response: EmailIncludePage,
    handle: ({ caller, query }) => emailIncludes.list(caller, query),
  }),
  endpoint({
    method: 'put',
    path: '/v2/email/includes/{name}',
    id: 'saveEmailInclude',
    tag,
    summary: 'Create or replace an email include',
    description:
      'Templates take the new content from their next email on; they are not checked again, so it may make one fail. Includes may be nested 5 levels deep.',
    scope: 'templates.write',
    params,
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
    method: 'get',
    path: '/v2/email/includes/{name}',
    id: 'getEmailInclude',
    tag,
    summary: 'Get one email include',
    description:
      'An include is found by the name that templates use for it. Its content is the source as it was stored; other includes that it names are not put in.',
    scope: 'templates.read',
    params,
    response: EmailInclude,
    handle: ({ caller, params }) => emailIncludes.find(caller, params.name),
  }),
  endpoint({
    method: 'delete',
    path: '/v2/email/includes/{name}',
    id: 'deleteEmailInclude',
    tag,
    summary: 'Delete an email include',
    description: 'One that a template uses, directly or through other includes, stays.',
    scope: 'templates.write',
    params,
    problems: ['in_use'],
    handle: ({ caller, params }) => emailIncludes.remove(caller, params.name),
  }),
];

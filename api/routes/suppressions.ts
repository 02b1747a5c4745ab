import * as suppressions from '../../shared/domain/suppressions.ts';
import { Id } from '../../shared/schemas/fields.ts';
import {
  NewSuppression,
  Suppression,
  SuppressionFilter,
  SuppressionPage,
} from '../../shared/schemas/suppressions.ts';
import { Other, resource } from '../endpoint.ts';

const endpoint = resource('Suppressions', { id: Id('suppression') });

export default [
  endpoint({
    route: 'POST /v2/suppressions',
    id: 'createSuppression',
    summary: 'Suppress a number or an email address',
    description:
      'What is suppressed is not sent to. Where the number, or the address with this scope, is suppressed already, the existing entry is the answer.',
    scope: 'suppressions.write',
    body: NewSuppression,
    needsBody: true,
    examples: [
      { name: 'minimal', summary: 'An address', body: { email: 'grace@example.com' } },
      { name: 'number', summary: 'A number', body: { number: '+447700900199' } },
      {
        name: 'marketing',
        summary: 'An address that is sent no marketing',
        body: { email: 'alan@example.com', scope: 'marketing' },
      },
    ],
    status: 201,
    otherStatus: { status: 200, description: 'It was suppressed already: the existing entry' },
    response: Suppression,
    faults: ({ body }) => suppressions.faultsOfNew(body),
    handle: async ({ caller, body }) => {
      const { suppression, isNew } = await suppressions.create(caller, body);
      return isNew ? suppression : new Other(suppression);
    },
  }),
  endpoint({
    route: 'GET /v2/suppressions',
    id: 'listSuppressions',
    summary: 'List suppressions, newest first',
    description:
      'A suppression must match all filters that are given. number and email look for a whole number, in any common format, or a whole address, in any case. Where few match, a page may be short, or empty, and nextCursor goes on from there.',
    scope: 'suppressions.read',
    query: SuppressionFilter,
    response: SuppressionPage,
    faults: ({ query }) => suppressions.faultsOfFilter(query),
    handle: ({ caller, query }) => suppressions.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/suppressions/{id}',
    id: 'getSuppression',
    summary: 'Get one suppression',
    description:
      'Its source says how it came about. One of scope marketing keeps an address from email of kind marketing only. A suppression that was removed is not_found, also where the number or address has been suppressed again since: that is another suppression.',
    scope: 'suppressions.read',
    response: Suppression,
    handle: ({ caller, params }) => suppressions.find(caller, params.id),
  }),
  endpoint({
    route: 'DELETE /v2/suppressions/{id}',
    id: 'deleteSuppression',
    summary: 'Remove a suppression: it may be sent to again',
    description:
      'Messages that failed because of it are not sent now. Another suppression of the same address with the other scope stays, and a new STOP, bounce or complaint suppresses it again.',
    scope: 'suppressions.write',
    handle: ({ caller, params }) => suppressions.remove(caller, params.id),
  }),
];

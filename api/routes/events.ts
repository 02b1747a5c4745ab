import * as events from '../../shared/domain/events/events.ts';
import { EventFilter, EventPage } from '../../shared/schemas/events.ts';
import { resource, Serialized } from '../endpoint.ts';

const endpoint = resource('Events');

export default [
  endpoint({
    route: 'GET /v2/events',
    id: 'listEvents',
    summary: 'Read the feed of events, oldest first',
    description:
      'Without cursor the feed starts one hour ago, or at since. nextCursor is always there, also with no new events; sent as cursor it returns only newer ones. Where hasMore is true there may be more already, even if the page is empty, since types may leave out many events in a row: ask again at once. Events are kept {{eventDays}} days.',
    scope: 'events.read',
    query: EventFilter,
    response: EventPage,
    problems: ['cursor_expired'],
    faults: ({ query }) => events.faultsOfFilter(query),
    handle: async ({ caller, query, version }) => {
      const { items, nextCursor, hasMore } = await events.feed(caller, query, version);
      return new Serialized(
        `{"data":[${items.join(',')}],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}`,
      );
    },
  }),
];

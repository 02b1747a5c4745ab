import * as conversations from '../../shared/domain/conversations/conversations.ts';
import { ConversationPage, ConversationQuery } from '../../shared/schemas/conversations.ts';
import { resource } from '../endpoint.ts';

const endpoint = resource('Conversations');

export default [
  endpoint({
    route: 'GET /v2/conversations',
    id: 'listConversations',
    summary: 'List conversations, latest activity first',
    description:
      'There is one for each sender of yours and number at the other end, from the first text on that has come in; it has the texts before that too. One that gets a text while you read the pages may come again. GET /v2/sms with conversationId lists its texts.',
    scope: ['sms.read', 'recipients.read'],
    query: ConversationQuery,
    response: ConversationPage,
    faults: ({ query }) => conversations.faultsOfFilter(query),
    handle: ({ caller, query }) => conversations.list(caller, query),
  }),
];

import { z } from 'zod';
import * as webhooks from '../../shared/domain/webhooks.ts';
import { Id } from '../../shared/schemas/fields.ts';
import { NewWebhook, Webhook, WebhookPage } from '../../shared/schemas/webhooks.ts';
import { endpoint } from '../endpoint.ts';

const tag = 'Webhooks';
const params = z.object({ id: Id('webhook') });

export default [
  endpoint({
    method: 'post',
    path: '/v2/webhooks',
    id: 'createWebhook',
    tag,
    summary: 'Create a webhook',
    description: 'The answer holds the signing secret, which is not shown again.',
    scope: 'webhooks.write',
    body: NewWebhook,
    status: 201,
    response: Webhook,
    location: (webhook) => `/v2/webhooks/${webhook.id}`,
    problems: ['webhooks_not_enabled', 'limit_exceeded'],
    handle: ({ caller, body }) => webhooks.create(caller, body),
  }),
  endpoint({
    method: 'get',
    path: '/v2/webhooks',
    id: 'listWebhooks',
    tag,
    summary: 'List the webhooks of the workspace, newest first',
    scope: 'webhooks.read',
    status: 200,
    response: WebhookPage,
    problems: [],
    handle: ({ caller }) => webhooks.list(caller),
  }),
  endpoint({
    method: 'get',
    path: '/v2/webhooks/{id}',
    id: 'getWebhook',
    tag,
    summary: 'Get one webhook',
    scope: 'webhooks.read',
    params,
    status: 200,
    response: Webhook,
    problems: [],
    handle: ({ caller, params }) => webhooks.find(caller, params.id),
  }),
  endpoint({
    method: 'delete',
    path: '/v2/webhooks/{id}',
    id: 'deleteWebhook',
    tag,
    summary: 'Delete a webhook',
    scope: 'webhooks.write',
    params,
    status: 204,
    problems: [],
    handle: ({ caller, params }) => webhooks.remove(caller, params.id),
  }),
];

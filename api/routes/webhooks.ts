import { problem } from '../../shared/common/errors.ts';
import * as deliveryLog from '../../shared/domain/webhooks/deliveries/log.ts';
import * as webhooks from '../../shared/domain/webhooks/webhooks.ts';
import { Event } from '../../shared/schemas/events.ts';
import { Id } from '../../shared/schemas/fields.ts';
import type { Caller } from '../../shared/schemas/scopes.ts';
import {
  WebhookDelivery,
  WebhookDeliveryFilter,
  WebhookDeliveryLog,
  WebhookDeliveryPage,
  WebhookRecovered,
  WebhookRecovery,
} from '../../shared/schemas/webhooks/deliveries.ts';
import { NewWebhook, Webhook, WebhookChanges, WebhookPage } from '../../shared/schemas/webhooks/webhooks.ts';
import { resource } from '../endpoint.ts';
import { tokenBuckets } from '../middleware/token-buckets.ts';

const endpoint = resource('Webhooks', { id: Id('webhook'), deliveryId: Id('delivery') });
// Deliveries show recipients and content. So a caller that may not see them may not have them delivered (API decisions
// §3).
const write = ['webhooks.write', 'recipients.read', 'content.read'] as const;

// A test waits for no slot. Without a limit, tests at endpoints that hang would take the jobs of first attempts.
const testsAMinute = 20;
const tests = tokenBuckets([{ kind: 'workspace', perSecond: testsAMinute / 60, burst: testsAMinute }]);

async function countTest({ workspaceId }: Caller): Promise<void> {
  const { refusedBy, retryAfterSeconds } = await tests.take([`webhook-tests ${workspaceId}`]);
  if (!refusedBy) return;
  const detail = `A workspace may send at most ${testsAMinute} webhook tests a minute.`;
  throw problem('rate_limited', { retryAfterSeconds, detail });
}

export default [
  endpoint({
    route: 'POST /v2/webhooks',
    id: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'The answer holds the signing secret, which is not shown again. There is one webhook for the same url, events and inboundNumber.',
    scope: write,
    body: NewWebhook,
    examples: [
      {
        name: 'minimal',
        summary: 'What became of emails',
        body: { url: 'https://example.com/hooks', events: ['email.delivered', 'email.bounced'] },
      },
      {
        name: 'replies',
        summary: 'Texts that come in',
        body: { url: 'https://example.com/replies', events: ['sms.received'], description: 'Replies' },
      },
    ],
    status: 201,
    response: Webhook,
    problems: ['webhooks_not_enabled', 'webhook_exists', 'limit_exceeded'],
    faults: ({ body }) => webhooks.faultsOfNew(body),
    handle: ({ caller, body }) => webhooks.create(caller, body),
  }),
  endpoint({
    route: 'GET /v2/webhooks',
    id: 'listWebhooks',
    summary: 'List the webhooks of the workspace, newest first',
    description:
      'All of them come in one page: nextCursor is always null, and there are at most 100. secret is null here, as only the answer that issued it shows it.',
    scope: 'webhooks.read',
    response: WebhookPage,
    handle: ({ caller }) => webhooks.list(caller),
  }),
  endpoint({
    route: 'GET /v2/webhooks/{id}',
    id: 'getWebhook',
    summary: 'Get one webhook',
    description:
      'Shows how the webhook fares as well: failingSince and consecutiveFailures while it fails, and autoDisabled once it was switched off for that. secret is null here, as only the answer that issued it shows it.',
    scope: 'webhooks.read',
    response: Webhook,
    handle: ({ caller, params }) => webhooks.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/webhooks/{id}',
    id: 'updateWebhook',
    summary: 'Change a webhook',
    description:
      'What is left out stays as it is. apiVersion and events together turn a legacy webhook into a v2 one; that answer holds a new signing secret, which is not shown again. A new url is used from the next attempt on.',
    scope: write,
    body: WebhookChanges,
    examples: [
      { name: 'minimal', summary: 'Another description', body: { description: 'Orders' } },
      { name: 'resume', summary: 'Switch it on again', body: { active: true } },
    ],
    response: Webhook,
    problems: ['webhooks_not_enabled', 'webhook_exists'],
    faults: ({ caller, params, body }) => webhooks.faultsOfChange(caller, params.id ?? '', body),
    handle: ({ caller, params, body }) => webhooks.change(caller, params.id, body),
  }),
  endpoint({
    route: 'DELETE /v2/webhooks/{id}',
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description:
      'No attempt is begun after it, and deliveries that were still to come are not made. The log of its deliveries goes with it. The events stay in the feed; a webhook that is made for the same url has an id and a secret of its own.',
    scope: write,
    handle: ({ caller, params }) => webhooks.remove(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/webhooks/{id}/rotate-secret',
    id: 'rotateWebhookSecret',
    summary: 'Issue a new signing secret',
    description:
      'The answer holds the secret, which is not shown again. For 72 hours, or until the next rotation, each delivery carries two signatures: sig with the new secret and sig-prev with the old one. A legacy webhook signs with the new one alone.',
    scope: write,
    response: Webhook,
    handle: ({ caller, params }) => webhooks.rotateSecret(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/webhooks/{id}/test',
    id: 'testWebhook',
    summary: 'Send webhook.test to a webhook',
    description: `It goes to this webhook alone, whatever it subscribes to, also while it is switched off. The answer is the event; what came of it is in the deliveries. A workspace may send ${testsAMinute} tests a minute; another is refused with rate_limited.`,
    scope: write,
    response: Event,
    prepare: ({ caller }) => countTest(caller),
    handle: ({ caller, params, version }) => webhooks.sendTest(caller, params.id, version),
  }),
  endpoint({
    route: 'GET /v2/webhooks/{id}/deliveries',
    id: 'listWebhookDeliveries',
    summary: 'List the deliveries to a webhook with their latest attempt, newest first',
    description:
      'Deliveries are kept {{eventDays}} days. With both status and eventType a page may hold fewer than limit, or none, and still have a nextCursor.',
    scope: 'webhooks.read',
    query: WebhookDeliveryFilter,
    response: WebhookDeliveryPage,
    handle: ({ caller, params, query }) => deliveryLog.list(caller, params.id, query),
  }),
  endpoint({
    route: 'GET /v2/webhooks/{id}/deliveries/{deliveryId}',
    id: 'getWebhookDelivery',
    summary: 'Get one delivery with its attempts',
    description:
      'The attempts come newest first, each with the status and the beginning of the answer; of very many the newest 100 are shown. A delivery is not_found once it is no longer kept, which is as long as events are, or once the webhook was deleted.',
    scope: 'webhooks.read',
    response: WebhookDeliveryLog,
    handle: ({ caller, params }) => deliveryLog.find(caller, params.id, params.deliveryId),
  }),
  endpoint({
    route: 'POST /v2/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    id: 'redeliverWebhookDelivery',
    summary: 'Send one delivery again',
    description:
      'Whatever became of it: the same Webhook-Id and body, and a new schedule. The webhook has to be active. Nothing changes for one that is being attempted at this moment.',
    scope: write,
    response: WebhookDelivery,
    problems: ['webhook_disabled'],
    handle: ({ caller, params }) => webhooks.redeliver(caller, params.id, params.deliveryId),
  }),
  endpoint({
    route: 'POST /v2/webhooks/{id}/recover',
    id: 'recoverWebhook',
    summary: 'Send again what failed or was skipped since a time',
    description: 'Paced, so that the endpoint is not overrun. The webhook has to be active.',
    scope: write,
    body: WebhookRecovery,
    examples: [
      {
        name: 'minimal',
        summary: 'What failed in the last hour',
        body: (at) => ({ since: new Date(at.getTime() - 3_600_000).toISOString() }),
      },
    ],
    response: WebhookRecovered,
    problems: ['webhook_disabled'],
    handle: ({ caller, params, body }) => webhooks.recover(caller, params.id, body.since),
  }),
];

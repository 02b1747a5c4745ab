import { now } from '../../common/clock.ts';
import { type FieldErrors, problem } from '../../common/errors.ts';
import { throwAny, type Usable } from '../../common/faults.ts';
import { seal } from '../../common/secrets.ts';
import { currentVersion } from '../../common/versions.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { LegacyEvent, NewWebhook, Webhook } from '../../schemas/webhooks/webhooks.ts';
import { refuseOneMore } from '../requests/refusals.ts';
import { refuseSecond } from './duplicates.ts';
import { faultsOf, neverFailed, newSecret, settingsOf, toWire, type WebhookSettings } from './record.ts';

const maxWebhooks = 100;

export async function create(caller: Caller, request: NewWebhook): Promise<Webhook> {
  // Lock the workspace, so that two requests at once cannot both create the hundredth webhook, nor the same one.
  const workspace = await findWorkspaceForUpdate(caller.workspaceId);
  if (!workspace?.webhooksEnabled) throw problem('webhooks_not_enabled');
  const { url, events, apiVersion } = request;
  return insert(caller.workspaceId, {
    ...settingsOf(request),
    url,
    events,
    apiVersion: apiVersion ?? currentVersion,
  });
}

/** Returns the faults for which `create` would refuse a request. */
export function faultsOfNew(request: Usable<NewWebhook>): FieldErrors {
  return faultsOf({ ...request, apiVersion: request.apiVersion ?? currentVersion });
}

type NewLegacyWebhook = {
  url: string;
  events: readonly LegacyEvent[];
  description?: string | null;
  inboundNumber?: string | null;
};

/** For the operator only: legacy webhooks are kept, but customers cannot create new ones (API decisions §5). */
export async function createLegacy(workspaceId: string, request: NewLegacyWebhook): Promise<Webhook> {
  return transaction(async () => {
    await findWorkspaceForUpdate(workspaceId);
    const { url, events } = request;
    return insert(workspaceId, { ...settingsOf(request), url, events: [...events], apiVersion: null });
  });
}

type ChosenSettings = WebhookSettings & Pick<db.WebhookRecord, 'url' | 'events' | 'apiVersion'>;

async function insert(workspaceId: string, settings: ChosenSettings): Promise<Webhook> {
  const errors = faultsOf(settings);
  throwAny(errors);
  await refuseSecond(workspaceId, settings);
  refuseOneMore((await db.listWebhooks(workspaceId)).length, maxWebhooks, 'webhooks');
  const time = now();
  const id = newId('webhook', time);
  const secret = newSecret();
  const record: db.WebhookRecord = {
    ...settings,
    id,
    workspaceId,
    events: [...new Set(settings.events)],
    active: true,
    ...neverFailed,
    recoveredAt: null,
    pausedUntil: null,
    pauseEndedAt: null,
    secretVersion: 1,
    secret: seal(id, secret),
    previousSecret: null,
    previousSecretUntil: null,
    legacySecret: null,
    legacySecretUntil: null,
    createdAt: time,
  };
  await db.insertWebhook(workspaceId, record);
  return toWire(record, secret);
}

import { now } from '../../common/clock.ts';
import type { FieldErrors } from '../../common/errors.ts';
import { isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import * as knownKeys from '../../coordination/known-keys.ts';
import * as db from '../../db/api-keys/api-keys.ts';
import { afterCommit, transaction } from '../../db/client.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import type { ApiKey, NewApiKey } from '../../schemas/api-keys.ts';
import { scopes as allScopes, type Caller, type Scope } from '../../schemas/scopes.ts';
import { refuseOneMore } from '../requests/refusals.ts';
import { hashKey, newKey } from './make-key.ts';
import { refuseBeyond, refuseLongerLife, setUpSigning, toWire } from './record.ts';
import * as keyUsage from './usage.ts';

/** Makes API keys for callers, and keys and tokens for the operator. */

const maxApiKeys = 500;
// The last millisecond that has a timestamp.
const latest = new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 999));

export type IssuedKey = { key: string; record: db.ApiKeyRecord };

/** Makes a key with the default settings. */
function blank(workspaceId: string, kind: db.KeyKind, time: Date) {
  const key = newKey(kind);
  const id = newId('key', time);
  const record: db.ApiKeyRecord = {
    id,
    workspaceId,
    lineageId: id,
    kind,
    name: null,
    keyPrefix: key.slice(0, 6),
    keyLast4: key.slice(-4),
    scopes: [...allScopes],
    apiVersion: null,
    createdAt: time,
    activeFrom: time,
    expiresAt: null,
    rotatedAt: null,
    ownExpiresAt: null,
    strictMode: false,
    dailyParts: null,
    monthlyParts: null,
    ...setUpSigning(id, null).settings,
  };
  return { key, record };
}

/** Stores a key. After the commit, every process can learn that the key exists. */
export async function store(record: db.ApiKeyRecord, key: string): Promise<void> {
  const hash = hashKey(key);
  await db.insertApiKey(record.workspaceId, record, hash);
  afterCommit(() => knownKeys.note(hash));
}

async function insert({ key, record }: IssuedKey): Promise<void> {
  await store(record, key);
  await keyUsage.open(record.workspaceId, record.lineageId, record.createdAt);
}

/** Makes a key or token for the operator; its text is not stored and cannot be shown again. */
export async function issue(
  workspaceId: string,
  options: {
    kind?: db.KeyKind;
    name?: string | null;
    scopes?: readonly Scope[];
    expiresAt?: Date | null;
  } = {},
): Promise<IssuedKey> {
  const { kind = 'api_key', name = null, expiresAt = null } = options;
  const made = blank(workspaceId, kind, now());
  // An app that could make keys could give itself the scopes that it was not given.
  const allowed = allScopes.filter((scope) => kind === 'api_key' || scope !== 'api_keys.write');
  const scopes = [...(options.scopes ?? allowed)];
  if (scopes.some((scope) => !allowed.includes(scope)))
    throw new Error('A connected app cannot have the scope api_keys.write');
  const issued = { ...made, record: { ...made.record, name, expiresAt, scopes } };
  await transaction(() => insert(issued));
  return issued;
}

export async function create(caller: Caller, request: NewApiKey): Promise<ApiKey> {
  const scopes = [...new Set(request.scopes ?? allScopes)];
  await refuseBeyond(caller, { scopes, strictMode: request.strictMode ?? false, lineageId: null });
  const time = now();
  const errors = faultsOfNew(request, time);
  throwAny(errors);
  await refuseLongerLife(caller, request.expiresAt ?? null);
  await refuseOneTooMany(caller.workspaceId);

  const { key, record: made } = blank(caller.workspaceId, 'api_key', time);
  const { settings, signingSecret } = setUpSigning(made.id, request.signing ?? null);
  const record: db.ApiKeyRecord = {
    ...made,
    ...settings,
    name: request.name || null,
    scopes,
    apiVersion: request.apiVersion ?? null,
    activeFrom: laterOf(time, request.activeFrom),
    expiresAt: request.expiresAt ?? null,
    strictMode: request.strictMode ?? false,
    dailyParts: request.limits?.dailyParts || null,
    monthlyParts: request.limits?.monthlyParts || null,
  };
  await insert({ key, record });
  return toWire(record, { usedToday: 0, usedThisMonth: 0 }, { key, signingSecret });
}

/** Returns the given time; a time in the past counts as now. */
function laterOf(time: Date, given: Date | null | undefined): Date {
  return given && given > time ? given : time;
}

/** Returns the faults for which `create` would refuse a request. Skips fields of the wrong shape. */
export function faultsOfNew(request: Usable<NewApiKey>, time: Date = now()): FieldErrors {
  const { strictMode, signing, activeFrom, expiresAt } = request;
  const errors: FieldErrors = {};
  if (strictMode && !signing && !isUnusable(request, 'signing')) errors.strictMode = ['needs signing'];
  if (activeFrom && activeFrom > latest) errors.activeFrom = ['must be before the year 10000'];
  if (expiresAt && expiresAt > latest) errors.expiresAt = ['must be before the year 10000'];
  else if (expiresAt && expiresAt <= laterOf(time, activeFrom))
    errors.expiresAt = ['must be in the future and later than activeFrom'];
  return errors;
}

/** Refuses a key beyond the cap. The workspace stays locked, so that two requests cannot both make the last key. */
export async function refuseOneTooMany(workspaceId: string): Promise<void> {
  await findWorkspaceForUpdate(workspaceId);
  const count = await db.findApiKeyCount(workspaceId, 'api_key');
  refuseOneMore(count, maxApiKeys, 'API keys, expired ones included');
}

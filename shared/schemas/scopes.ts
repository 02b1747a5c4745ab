import type { KeyObject } from 'node:crypto';
import { z } from 'zod';

/** The scopes of a caller. The last two only reveal fields, which are null without them. */
export const scopes = [
  'webhooks.read',
  'webhooks.write',
  'events.read',
  'suppressions.read',
  'suppressions.write',
  'senders.read',
  'senders.write',
  'contacts.read',
  'contacts.write',
  'lists.read',
  'lists.write',
  'api_keys.read',
  'api_keys.write',
  'templates.read',
  'templates.write',
  'email.send',
  'email.read',
  'domains.read',
  'domains.write',
  'sms.send',
  'sms.read',
  'reports.read',
  'workspace.read',
  'simulator.read',
  'simulator.write',
  'recipients.read',
  'content.read',
] as const;

export const Scope = z.enum(scopes).meta({ id: 'Scope', description: 'A permission of a key or token' });
export type Scope = z.infer<typeof Scope>;

export const signingAlgorithms = ['hmac_sha256', 'ecdsa_p256_sha256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** How a caller's requests are signed. The keys are tried in order; one with a time is good until then only. */
export type Signing = {
  algorithm: SigningAlgorithm;
  keys: readonly { key: KeyObject; until: Date | null }[];
};

/** The caller: an API key, or the token of a connected app. */
export type Caller = {
  workspaceId: string;
  keyId: string;
  /** Id of a key together with its rotations: limits and idempotency belong to it. */
  lineageId: string;
  kind: 'api_key' | 'app';
  scopes: ReadonlySet<Scope>;
  /** The version that the key is pinned to; null follows the current one. */
  apiVersion: string | null;
  /** Every request must be signed, and every POST and PATCH must carry an Idempotency-Key. */
  strictMode: boolean;
  /** Null: no signing is set up, and a signature that is sent is not checked. */
  signing: Signing | null;
};

import { z } from 'zod';
import { knownVersions } from '../common/versions.ts';
import { parsePublicKey } from '../formats/signatures/public-key.ts';
import { CreatedAt, change, Id, Moment, pageOf, Timestamp, text } from './fields.ts';
import { Scope, scopes, signingAlgorithms } from './scopes.ts';

export const ApiKey = z
  .object({
    id: Id('key'),
    name: z.string().nullable().describe('What you call it'),
    keyPrefix: z.string().describe('The first six characters of the key'),
    keyLast4: z.string().describe('The last four characters of the key'),
    scopes: z.array(Scope).describe('What it may do'),
    limits: z
      .object({
        dailyParts: z.int32().nullable().describe('SMS parts in a UTC day; null: no limit'),
        monthlyParts: z.int32().nullable().describe('SMS parts in a UTC month; null: no limit'),
        usedToday: z
          .int32()
          .describe('Of this key and its rotations, with what is reserved for sends in progress'),
        usedThisMonth: z.int32().describe('The same of the UTC month'),
      })
      .describe('How many parts of texts it may send, and has'),
    strictMode: z
      .boolean()
      .describe('Every request must be signed, and every POST and PATCH must carry an Idempotency-Key'),
    signing: z
      .object({
        algorithm: z.enum(signingAlgorithms).describe('How requests are signed'),
        publicKey: z.string().nullable().describe('null for hmac_sha256'),
      })
      .optional()
      .describe('Left out when not set'),
    apiVersion: z.string().nullable().describe('null: follows the current version'),
    createdAt: CreatedAt,
    activeFrom: Timestamp.describe('Before that it is refused'),
    expiresAt: Timestamp.nullable().describe('null: does not expire; set on a rotated key'),
    lastUsedAt: Timestamp.nullable().describe('Not tracked: always null'),
    key: z.string().nullable().describe('Only in the response that issued it'),
    signingSecret: z
      .string()
      .nullable()
      .describe('For hmac_sha256; only in the response that issued it or carried it over'),
  })
  .meta({
    id: 'ApiKey',
    description:
      'A key that callers prove themselves with: its scopes, limits and signature, never its text again',
  });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyPage = pageOf(ApiKey, 'ApiKeyPage');

const nameText = text({ max: 64 });
const name = nameText.nullish().describe('An empty one is none');
const partLimit = z.int32().min(0).max(100_000_000);
const parts = partLimit.nullish();
const limits = z
  .object({
    dailyParts: parts.describe('In a UTC day'),
    monthlyParts: parts.describe('In a UTC month'),
  })
  .nullish()
  .describe('SMS parts in a UTC day and month; null or 0 is no limit');
const apiVersion = z
  .enum(knownVersions)
  .nullish()
  .describe('The version that the key is pinned to; null follows the current one');

const NewSigning = z
  .object({
    algorithm: z
      .enum(signingAlgorithms)
      .describe(
        'hmac_sha256: with a secret that the answer holds; ecdsa_p256_sha256: with a key of your own',
      ),
    publicKey: z
      .string()
      .nullish()
      .describe(
        'P-256, SubjectPublicKeyInfo in PEM; required for ecdsa_p256_sha256, to be left out for hmac_sha256',
      ),
  })
  // Checked together, because the faults of a publicKey that is not wanted do not matter.
  .transform(({ algorithm, publicKey }, context) => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', path: ['publicKey'], message });
      return z.NEVER;
    };
    if (publicKey == null)
      return algorithm === 'hmac_sha256' ? { algorithm } : refuse('is required for ecdsa_p256_sha256');
    if (algorithm === 'hmac_sha256') return refuse('must be left out for hmac_sha256');
    const parsed = parsePublicKey(publicKey);
    return 'pem' in parsed ? { algorithm, publicKey: parsed.pem } : refuse(parsed.fault);
  })
  .meta({ id: 'NewSigning', description: 'How requests with the key are signed (RFC 9421)' });
export type NewSigning = { algorithm: z.infer<typeof NewSigning>['algorithm']; publicKey?: string };

export const NewApiKey = z
  .object({
    name,
    scopes: z
      .array(Scope)
      .min(1)
      .max(scopes.length)
      .nullish()
      .describe('What the key may do; default everything. Only what your own key may do'),
    limits,
    strictMode: z.boolean().nullish().describe('Needs signing'),
    signing: NewSigning.nullish().describe('How requests with the key are signed (RFC 9421)'),
    apiVersion,
    activeFrom: Moment.nullish().describe('Default: now'),
    expiresAt: Moment.nullish().describe('Default: never. No later than your own key expires'),
  })
  .meta({
    id: 'NewApiKey',
    description: 'A key to be made; without scopes it gets all of them, and so the caller must have all',
  });
export type NewApiKey = z.infer<typeof NewApiKey>;

export const ApiKeyChanges = z
  .object({
    name: change('stays', nameText, 'An empty one clears it'),
    limits: change(
      'stays',
      z.object({
        dailyParts: change('clears', partLimit, 'SMS parts in a UTC day; 0 is no limit, too'),
        monthlyParts: change('clears', partLimit, 'SMS parts in a UTC month; 0 is no limit, too'),
      }),
    ),
    strictMode: change('stays', z.boolean(), 'Needs signing'),
    signing: change('clears', NewSigning, 'hmac_sha256 on a key that has it keeps its secret'),
    apiVersion: change(
      'clears',
      z.enum(knownVersions),
      'The version that the key is pinned to; without one it follows the current version',
    ),
  })
  .meta({ id: 'ApiKeyChanges', description: 'What is to change of an API key; what is left out stays' });
export type ApiKeyChanges = z.infer<typeof ApiKeyChanges>;

export const KeyRotation = z
  .object({
    overlapHours: z
      .int32()
      .min(0)
      .max(168)
      .nullish()
      .describe('How long the old key still works; default 24'),
  })
  .meta({ id: 'KeyRotation', description: 'How long the old key works beside the new one' });
export type KeyRotation = z.infer<typeof KeyRotation>;

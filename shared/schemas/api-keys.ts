import { z } from 'zod';
import { knownVersions } from '../common/versions.ts';
import { parsePublicKey } from '../formats/signatures/public-key.ts';
import { CreatedAt, change, Id, Moment, pageOf, Timestamp, text } from './fields.ts';
import { Scope, scopes, signingAlgorithms } from './scopes.ts';

export const ApiKey = z
  .object({
    id: Id('key'),
    name: z.string().nullable().describe('Your name for the key'),
    keyPrefix: z.string().describe('The first six characters of the key'),
    keyLast4: z.string().describe('The last four characters of the key'),
    scopes: z.array(Scope).describe('The scopes of the key'),
    limits: z
      .object({
        dailyParts: z.int32().nullable().describe('SMS parts in a UTC day; null: no limit'),
        monthlyParts: z.int32().nullable().describe('SMS parts in a UTC month; null: no limit'),
        usedToday: z
          .int32()
          .describe(
            'SMS parts used in this UTC day by this key and its rotations, including parts reserved for sends in progress',
          ),
        usedThisMonth: z.int32().describe('The same for this UTC month'),
      })
      .describe('How many SMS parts the key may send, and how many it has sent'),
    strictMode: z
      .boolean()
      .describe('true: every request must be signed, and every POST and PATCH must have an Idempotency-Key'),
    signing: z
      .object({
        algorithm: z.enum(signingAlgorithms).describe('How requests are signed'),
        publicKey: z.string().nullable().describe('The public key, in PEM; null for hmac_sha256'),
      })
      .optional()
      .describe('How requests with the key are signed; left out if no signature is set up'),
    apiVersion: z
      .string()
      .nullable()
      .describe('The API version that the key is pinned to; null: the current version'),
    createdAt: CreatedAt,
    activeFrom: Timestamp.describe('The key is refused before this time'),
    expiresAt: Timestamp.nullable().describe(
      'The key is refused from this time on; null: it does not expire. A rotation sets it on the old key',
    ),
    lastUsedAt: Timestamp.nullable().describe('Always null: the last use is not recorded'),
    key: z.string().nullable().describe('The key itself; null except in the answer that issued it'),
    signingSecret: z
      .string()
      .nullable()
      .describe(
        'The secret for hmac_sha256; null except in the answer that issued it or gave it to a new key',
      ),
  })
  .meta({
    id: 'ApiKey',
    description: 'An API key, with its scopes, limits and signature. Its text is shown only once',
  });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyPage = pageOf(ApiKey, 'ApiKeyPage');

const nameText = text({ max: 64 });
const name = nameText.nullish().describe('Your name for the key; an empty text means no name');
const partLimit = z.int32().min(0).max(100_000_000);
const parts = partLimit.nullish();
const limits = z
  .object({
    dailyParts: parts.describe('SMS parts in a UTC day'),
    monthlyParts: parts.describe('SMS parts in a UTC month'),
  })
  .nullish()
  .describe('How many SMS parts the key may send in a UTC day and month; null or 0 means no limit');
const apiVersion = z
  .enum(knownVersions)
  .nullish()
  .describe('The API version that the key is pinned to; null: the current version');

const NewSigning = z
  .object({
    algorithm: z
      .enum(signingAlgorithms)
      .describe(
        'hmac_sha256: with a secret that the answer contains; ecdsa_p256_sha256: with your own private key',
      ),
    publicKey: z
      .string()
      .nullish()
      .describe(
        'Your public key: P-256, SubjectPublicKeyInfo in PEM. Required for ecdsa_p256_sha256; must be left out for hmac_sha256',
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
      .describe('The scopes of the new key; default: all scopes. Your own key must have each of them'),
    limits,
    strictMode: z.boolean().nullish().describe('true needs signing'),
    signing: NewSigning.nullish().describe('How requests with the key are signed (RFC 9421)'),
    apiVersion,
    activeFrom: Moment.nullish().describe('The key is refused before this time; default: now'),
    expiresAt: Moment.nullish().describe(
      'The key is refused from this time on; default: never. Not later than the expiry of your own key',
    ),
  })
  .meta({
    id: 'NewApiKey',
    description: 'A new API key. Without scopes it gets all scopes, so the caller must have all scopes too',
  });
export type NewApiKey = z.infer<typeof NewApiKey>;

export const ApiKeyChanges = z
  .object({
    name: change('stays', nameText, 'Your name for the key. An empty text clears it'),
    limits: change(
      'stays',
      z.object({
        dailyParts: change('clears', partLimit, 'SMS parts in a UTC day; 0 means no limit too'),
        monthlyParts: change('clears', partLimit, 'SMS parts in a UTC month; 0 means no limit too'),
      }),
    ),
    strictMode: change('stays', z.boolean(), 'true needs signing'),
    signing: change(
      'clears',
      NewSigning,
      'How requests with the key are signed. If the key has hmac_sha256 already, hmac_sha256 keeps its secret',
    ),
    apiVersion: change(
      'clears',
      z.enum(knownVersions),
      'The API version that the key is pinned to; without it, the current version',
    ),
  })
  .meta({
    id: 'ApiKeyChanges',
    description: 'The changes of an API key. A field that is left out stays unchanged',
  });
export type ApiKeyChanges = z.infer<typeof ApiKeyChanges>;

export const KeyRotation = z
  .object({
    overlapHours: z
      .int32()
      .min(0)
      .max(168)
      .nullish()
      .describe('How many hours the old key still works; default 24'),
  })
  .meta({ id: 'KeyRotation', description: 'How long the old key works together with the new key' });
export type KeyRotation = z.infer<typeof KeyRotation>;

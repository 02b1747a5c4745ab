import { z } from 'zod';
import { currentVersion, knownVersions } from '../../shared/common/versions.ts';

const header = (id: string, description: string, example: string) =>
  z.string().meta({ description, example, header: { id } });

const sometimes = (id: string, description: string, example: string) =>
  z.string().optional().meta({ description, example, header: { id } });

const requestId = header('RequestId', 'Your own Request-Id, or one made here', 'a1b2c3');
const version = header('ServiceVersion', 'The version of the API in force', currentVersion);
const remaining = header(
  'RateLimit',
  'What is left of each limit, and the seconds until it is whole again',
  '"default";r=399;t=1, "workspace";r=1999;t=1',
);
const policy = header(
  'RateLimitPolicy',
  'The limits: requests in a window of seconds',
  '"default";q=400;w=2, "workspace";q=2000;w=2',
);
export const locationHeader = header(
  'Location',
  'The address of the new record',
  'https://messaging.example/v2/email/email_01h455vb4pex5vsknk084sn02q',
);
export const retryAfter = header('RetryAfter', 'Seconds to wait', '1');
export const retryAfterInProgress = sometimes(
  'RetryAfterInProgress',
  'Seconds to wait, where waiting helps',
  '1',
);
export const replayed = sometimes(
  'IdempotentReplayed',
  'This is the answer that the first request with the Idempotency-Key got',
  'true',
);

export const everyAnswer = { 'Request-Id': requestId };
export const authenticated = {
  ...everyAnswer,
  'Service-Version': version,
  RateLimit: remaining,
  'RateLimit-Policy': policy,
};

export const commonHeaders = z.object({
  'Service-Version': z
    .enum(knownVersions)
    .optional()
    .meta({
      description: 'Default: the version that the key is pinned to, else the current one',
      param: { id: 'ServiceVersion' },
    }),
  'Request-Id': z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/)
    .optional()
    .meta({ description: 'Comes back in the answer and is in every log line', param: { id: 'RequestId' } }),
});

export const idempotentHeaders = commonHeaders.extend({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .regex(/^[!-~]+$/)
    .optional()
    .meta({
      description:
        'Names this request: sent again with the same key within 24 hours, it is done once and gets the first answer ' +
        'again. Required where the API key is in strict mode',
      param: { id: 'IdempotencyKey' },
    }),
});

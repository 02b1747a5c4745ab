import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { now } from '../../../shared/common/clock.ts';
import type { ReceivedRequest } from './webhook-receiver.ts';

const byWebhooks = {
  covered: ['@method', '@authority', '@path', '@query', 'content-digest', 'content-type', 'webhook-id'],
  params: ['created', 'expires', 'keyid', 'alg'],
};

/** Returns the labels of a delivery's signatures, with the keyid of each. */
export function labelsOf({ headers }: ReceivedRequest): Record<string, string> {
  const members = [...headers['signature-input']!.matchAll(/(?:^|, )([\w-]+)=\(.*?\).*?;keyid="(\w+)"/g)];
  return Object.fromEntries(members.map(([, label, keyid]) => [label, keyid]));
}

/**
 * Tells whether this secret made the signature under this label. It checks as a customer does, with a library that
 * shares nothing with the one that signs. The library takes one label at a time, so it gets only this one.
 */
export async function isSignedBy(
  request: ReceivedRequest,
  label: string,
  secret: string,
  { covered, params } = byWebhooks,
): Promise<boolean> {
  const { headers, body } = request;
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  if (headers['content-digest'] !== digest) return false;
  const only = (field = '') => field.split(', ').find((member) => member.startsWith(`${label}=`)) ?? '';
  const verified = await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) => ({
        id: keyid ?? '',
        algs: ['hmac-sha256'],
        verify: async (data, signature) => {
          const expected = createHmac('sha256', secret).update(data).digest();
          return expected.length === signature.length && timingSafeEqual(expected, signature);
        },
      }),
      // A test may have moved the platform's clock forward.
      notAfter: new Date(now().getTime() + 1000),
      tolerance: 400 * 86_400,
      requiredFields: covered,
      requiredParams: params,
    },
    {
      method: request.method,
      url: `http://${headers['host']}${request.url}`,
      headers: {
        ...headers,
        'signature-input': only(headers['signature-input']),
        signature: only(headers['signature']),
      },
    },
  );
  return verified === true;
}

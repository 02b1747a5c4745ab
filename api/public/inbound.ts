import type { Request, Router } from 'express';
import { problem } from '../../shared/common/errors.ts';
import { isSameSecret } from '../../shared/common/secrets.ts';
import { headOf, largestMailBytes, receive } from '../../shared/domain/email/mail-reports/mail-reports.ts';
import { networkIn } from '../../shared/formats/network-address.ts';
import type { FailureLimit } from '../middleware/authenticate.ts';
import { route } from './route.ts';

const mostRecipients = 50;

/**
 * The HTTP door for bounces and complaints, where no process can be reached by SMTP: the body is the message as it
 * came (message/rfc822), `?recipient=` (repeatable) its envelope. The sender has to try again after a 503, as after a
 * 451 in SMTP; a 400 or 413 is final, as a 5xx is there.
 */
export function inboundEmail(token: string, failures: FailureLimit): Router {
  return route('/inbound/email', {
    post: async (request, response) => {
      if (!isAuthorized(request, token))
        throw await failures.refusalFor(
          request,
          problem('unauthenticated', {
            detail: 'Send INBOUND_TOKEN as a bearer token, or as the password of basic authentication',
          }),
        );
      const raw = await messageOf(request, () => response.writeContinue());
      const sender = networkIn(request.ip ?? '') ?? 'unknown';
      const outcome = await receive(raw, { recipients: recipientsOf(request), sender });
      response.set('Cache-Control', 'no-store').json({ outcome });
    },
  });
}

function isAuthorized(request: Request, token: string): boolean {
  const [, scheme, value] = /^(bearer|basic) +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (!scheme || !value) return false;
  const given =
    scheme.toLowerCase() === 'bearer'
      ? value
      : Buffer.from(value, 'base64')
          .toString()
          .replace(/^[^:]*:/, '');
  return isSameSecret(given, token);
}

async function messageOf(request: Request, goOn: () => void): Promise<Buffer> {
  const { headers } = request;
  const type = headers['content-type'] ?? '';
  if (!/^message\/rfc822\s*(?:;|$)/i.test(type) || headers['content-encoding'] !== undefined)
    throw problem('unsupported_media_type', {
      detail:
        'Send the message itself as the body, with the header Content-Type: message/rfc822, and no Content-Encoding.',
    });
  const tooLarge = problem('payload_too_large', {
    detail: `A message may have at most ${largestMailBytes} bytes.`,
  });
  if (Number(headers['content-length']) > largestMailBytes) throw tooLarge;
  if (headers.expect !== undefined) goOn();
  const raw = await headOf(request);
  if (!raw) throw tooLarge;
  return raw;
}

/** The recipients that a mail server names beside the message; without them the message itself is read. */
function recipientsOf({ query }: Request): string[] {
  return [query['recipient'] ?? []]
    .flat()
    .filter((one) => typeof one === 'string')
    .slice(0, mostRecipients);
}

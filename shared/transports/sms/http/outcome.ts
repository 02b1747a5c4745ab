import type { WebhookAttemptResult } from '../../webhook-http.ts';
import type { Submission } from '../gateway.ts';

/**
 * `fault`: the gateway as a whole failed, and another gateway may do better. `busy`: the gateway has asked for a
 * pause.
 */
type GatewayOutcome =
  | Extract<Submission, { kind: 'accepted' | 'refused' | 'unavailable' }>
  | { kind: 'fault' | 'busy'; detail: string };

/** Visible ASCII, with room for the number of a part behind a space (part-reference.ts). */
const referenceForm = /^[\x21-\x7e]{1,60}$/;
const codeForm = /^[\w.:-]{1,40}$/;

/**
 * Answers that do not come from a fault of the text: the address, the secret or the account is wrong, or a proxy
 * answers instead of the gateway. Nobody has taken the text. If these counted as unknown outcomes, each text would fail
 * within minutes, and would still be charged.
 */
const ofTheGateway = new Set([401, 402, 403, 404, 405, 407, 421, 426]);

/** The meaning of an answer of the gateway, or of its absence, for the text that was posted. */
export function outcomeOf({
  responseStatus,
  responseBody,
  isSent,
  error,
}: WebhookAttemptResult): GatewayOutcome {
  if (responseStatus === null)
    return isSent
      ? { kind: 'unavailable', detail: `The gateway gave no answer (${error})` }
      : { kind: 'fault', detail: `The gateway cannot be reached (${error})` };
  const answer = objectIn(responseBody);
  const detail = `The gateway answered ${responseStatus}`;
  if (responseStatus <= 299) {
    const reference = answer?.['reference'];
    if (typeof reference === 'string' && referenceForm.test(reference))
      return { kind: 'accepted', reference };
    // A web page that answers 200 to everything is no gateway. Without a reference the outcome is unknown.
    return { kind: 'unavailable', detail: `${detail} without a reference` };
  }
  if (responseStatus === 429 || responseStatus === 503) return { kind: 'busy', detail };
  if (responseStatus >= 500) return { kind: 'unavailable', detail };
  const refusal = responseStatus >= 400 && responseStatus !== 401 ? refusalIn(answer) : null;
  if (!refusal)
    return responseStatus < 400 || ofTheGateway.has(responseStatus)
      ? { kind: 'fault', detail }
      : { kind: 'unavailable', detail: `${detail} and did not say why` };
  const { code, words } = refusal;
  return { kind: 'refused', code, retryable: false, detail: words === '' ? detail : `${detail}: ${words}` };
}

function objectIn(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** A problem document (RFC 9457): the last word of its type names the cause, unless a code of its own does. */
function refusalIn(answer: Record<string, unknown> | null): { code: string; words: string } | null {
  if (!answer) return null;
  const { code, type, title, detail } = answer;
  const texts = [code, type, title, detail].map((one) => (typeof one === 'string' ? one : ''));
  if (texts.every((one) => one === '')) return null;
  const [ownCode, ofType] = [texts[0]!, texts[1]!.split(/[/#:]/).findLast((part) => part !== '') ?? ''];
  const named = [ownCode, ofType].find((one) => codeForm.test(one) && one !== 'blank');
  return { code: named ?? 'refused', words: texts[3]! || texts[2]! };
}

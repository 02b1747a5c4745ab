import type { SmsReason } from '../../../schemas/sms/sms.ts';
import { type ShortMessage, tags } from './pdu.ts';

/** The content of a receipt; `reason` is null where the phone has the text. */
type SmppReceipt = {
  reference: string;
  state: 'delivered' | 'failed' | 'pending';
  reason: SmsReason | null;
};

type IdForm = 'text' | 'hex' | 'decimal';

/**
 * Returns one spelling for all spellings of an id. Carriers write an id in capitals or not, with leading zeros or
 * not, or in hex in the answer to submit_sm and in decimal in the receipt.
 */
export function canonicalId(id: string, form: IdForm): string {
  const trimmed = id.trim();
  if (form === 'hex' && /^[0-9a-f]+$/i.test(trimmed)) return BigInt(`0x${trimmed}`).toString();
  if (form === 'decimal' && /^\d+$/.test(trimmed)) return BigInt(trimmed).toString();
  return trimmed.toLowerCase().replace(/^0+(?=.)/, '');
}

/** Reads bits 2 to 5 of esm_class (§5.2.12). 0 is a text from a person. */
export function isReceipt({ esmClass, tlvs }: ShortMessage): boolean {
  return (esmClass & 0x3c) === 0x04 || (esmClass & 0x3c) === 0x20 || tlvs.has(tags.receiptedMessageId);
}

/** The states by number (§5.2.28), as the short words of the text form (appendix B). */
const states = [
  '',
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
] as const;

const reasons: Record<string, Omit<SmsReason, 'description'> & { detail: string }> = {
  EXPIRED: {
    category: 'expired',
    code: 'expired',
    detail: 'The phone could not be reached in time',
    retryable: true,
  },
  DELETED: {
    category: 'rejected',
    code: 'deleted',
    detail: 'The carrier deleted the message',
    retryable: false,
  },
  UNDELIV: {
    category: 'undeliverable',
    code: 'undeliverable',
    detail: 'The message could not be delivered',
    retryable: false,
  },
  UNKNOWN: {
    category: 'failed',
    code: 'unknown',
    detail: 'The carrier does not know what became of the message',
    retryable: true,
  },
  REJECTD: {
    category: 'rejected',
    code: 'rejected',
    detail: 'The network rejected the message',
    retryable: false,
  },
};

/**
 * Reads a receipt from the optional parameters if they are there, else from the text (`id:… stat:… err:…`). Null when
 * it names no message or no state.
 */
export function readReceipt(pdu: ShortMessage, form: IdForm): SmppReceipt | null {
  const { tlvs } = pdu;
  const written = (pdu.message.length > 0 ? pdu.message : tlvs.get(tags.messagePayload)) ?? Buffer.alloc(0);
  const text = written.toString('latin1');
  const named = tlvs.get(tags.receiptedMessageId)?.toString('latin1').replace(/\0.*$/s, '');
  const id = named || /\bid:\s*([^\s]+)/i.exec(text)?.[1];
  const number = tlvs.get(tags.messageState)?.[0];
  const stat = states[number ?? 0] || /\bstat:\s*([a-z]+)/i.exec(text)?.[1]?.toUpperCase();
  if (!id || !stat) return null;
  const reference = canonicalId(id, form);
  const word = states.find((one) => one !== '' && stat.startsWith(one.slice(0, 5)));
  if (word === 'DELIVRD') return { reference, state: 'delivered', reason: null };
  // The final receipt follows an intermediate notification, whatever that says (§5.2.12).
  const isInterim = (pdu.esmClass & 0x3c) === 0x20;
  if (isInterim || word === 'ENROUTE' || word === 'ACCEPTD')
    return { reference, state: 'pending', reason: null };
  const { detail, ...reason } = reasons[word ?? 'UNKNOWN']!;
  const error = errorOf(tlvs.get(tags.networkErrorCode)) ?? /\berr:\s*([0-9a-z]+)/i.exec(text)?.[1];
  const suffix = error === undefined || /^0*$/.test(error) ? '' : ` (network error ${error})`;
  return { reference, state: 'failed', reason: { ...reason, description: `${detail}${suffix}` } };
}

/** Returns the error number (§5.3.2.31), which follows a byte for the kind of network. */
function errorOf(value: Buffer | undefined): string | undefined {
  return value?.length === 3 ? String(value.readUInt16BE(1)) : undefined;
}

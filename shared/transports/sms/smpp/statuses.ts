import type { Submission } from '../gateway.ts';

/** A command_status (SMPP 3.4 §5.1.3) that is named in code. */
export const statuses = {
  ok: 0x00,
  invalidCommandId: 0x03,
  throttled: 0x58,
  /** Our answer if the carrier may send the message again later. */
  temporaryFault: 0x64,
  /** Our answer if we will never take the message. */
  permanentFault: 0x65,
} as const;

type Kind = 'refused' | 'later' | 'unsure' | 'misused';
type Meaning = { name: string; kind: Kind; detail: string };

const table: Record<number, Meaning> = {
  0x01: { name: 'ESME_RINVMSGLEN', kind: 'refused', detail: 'the length of the message is invalid' },
  0x02: { name: 'ESME_RINVCMDLEN', kind: 'refused', detail: 'the length of the command is invalid' },
  0x03: { name: 'ESME_RINVCMDID', kind: 'refused', detail: 'the command is not known' },
  0x04: { name: 'ESME_RINVBNDSTS', kind: 'misused', detail: 'the bind does not allow the command' },
  0x05: { name: 'ESME_RALYBND', kind: 'misused', detail: 'it is bound already' },
  0x06: { name: 'ESME_RINVPRTFLG', kind: 'refused', detail: 'the priority is invalid' },
  0x07: { name: 'ESME_RINVREGDLVFLG', kind: 'refused', detail: 'receipts cannot be asked for like this' },
  // The message may have been taken before the carrier failed.
  0x08: { name: 'ESME_RSYSERR', kind: 'unsure', detail: 'the carrier has a fault' },
  0x0a: { name: 'ESME_RINVSRCADR', kind: 'refused', detail: 'the sender is invalid' },
  0x0b: { name: 'ESME_RINVDSTADR', kind: 'refused', detail: 'the recipient is invalid' },
  0x0c: { name: 'ESME_RINVMSGID', kind: 'refused', detail: 'the message id is invalid' },
  0x0d: { name: 'ESME_RBINDFAIL', kind: 'misused', detail: 'the bind failed' },
  0x0e: { name: 'ESME_RINVPASWD', kind: 'misused', detail: 'the password is invalid' },
  0x0f: { name: 'ESME_RINVSYSID', kind: 'misused', detail: 'the system id is invalid' },
  0x14: { name: 'ESME_RMSGQFUL', kind: 'later', detail: 'the queue of the carrier is full' },
  0x15: { name: 'ESME_RINVSERTYP', kind: 'refused', detail: 'the service type is invalid' },
  0x33: { name: 'ESME_RINVNUMDESTS', kind: 'refused', detail: 'the number of recipients is invalid' },
  0x42: { name: 'ESME_RINVESMCLASS', kind: 'refused', detail: 'the esm_class is invalid' },
  0x43: { name: 'ESME_RCNTSUBDL', kind: 'refused', detail: 'it cannot be handed to a distribution list' },
  0x44: { name: 'ESME_RSUBMITFAIL', kind: 'refused', detail: 'the carrier refused it' },
  0x45: { name: 'ESME_RSUBMITFAIL', kind: 'refused', detail: 'the carrier refused it' },
  0x48: { name: 'ESME_RINVSRCTON', kind: 'refused', detail: 'the type of the sender is invalid' },
  0x49: { name: 'ESME_RINVSRCNPI', kind: 'refused', detail: 'the plan of the sender is invalid' },
  0x50: { name: 'ESME_RINVDSTTON', kind: 'refused', detail: 'the type of the recipient is invalid' },
  0x51: { name: 'ESME_RINVDSTNPI', kind: 'refused', detail: 'the plan of the recipient is invalid' },
  0x53: { name: 'ESME_RINVSYSTYP', kind: 'misused', detail: 'the system type is invalid' },
  0x54: { name: 'ESME_RINVREPFLAG', kind: 'refused', detail: 'replace_if_present is invalid' },
  0x58: { name: 'ESME_RTHROTTLED', kind: 'later', detail: 'more came than the carrier allows' },
  0x61: { name: 'ESME_RINVSCHED', kind: 'refused', detail: 'the time of delivery is invalid' },
  0x62: { name: 'ESME_RINVEXPIRY', kind: 'refused', detail: 'the validity period is invalid' },
  0x64: { name: 'ESME_RX_T_APPN', kind: 'later', detail: 'the carrier cannot take it now' },
  0x65: { name: 'ESME_RX_P_APPN', kind: 'refused', detail: 'the carrier will not take it' },
  0x66: { name: 'ESME_RX_R_APPN', kind: 'refused', detail: 'the carrier refused it' },
  0xc0: { name: 'ESME_RINVOPTPARSTREAM', kind: 'refused', detail: 'an optional parameter cannot be read' },
  0xc1: { name: 'ESME_ROPTPARNOTALLWD', kind: 'refused', detail: 'an optional parameter is not allowed' },
  0xc2: { name: 'ESME_RINVPARLEN', kind: 'refused', detail: 'the length of a parameter is invalid' },
  0xc3: { name: 'ESME_RMISSINGOPTPARAM', kind: 'refused', detail: 'an optional parameter is missing' },
  0xc4: { name: 'ESME_RINVOPTPARAMVAL', kind: 'refused', detail: 'the value of a parameter is invalid' },
  0xfe: { name: 'ESME_RDELIVERYFAILURE', kind: 'refused', detail: 'it could not be delivered' },
  0xff: { name: 'ESME_RUNKNOWNERR', kind: 'unsure', detail: 'the carrier has a fault that it does not name' },
};

/** A status in words, such as `ESME_RINVPASWD (0x0e): the password is invalid`. */
export function inWords(status: number): string {
  const hex = `0x${status.toString(16).padStart(2, '0')}`;
  const known = table[status];
  return known ? `${known.name} (${hex}): ${known.detail}` : `status ${hex}`;
}

/** The meaning of a status other than 0 for the message that was submitted. */
export function outcomeOf(status: number): Exclude<Submission, { kind: 'accepted' }> {
  const known = table[status];
  const detail = `The gateway answered ${inWords(status)}`;
  // The carrier has not taken the message: it is busy, or the session is at fault.
  if (known?.kind === 'later' || known?.kind === 'misused') return { kind: 'later', detail };
  if (known?.kind === 'unsure') return { kind: 'unavailable', detail };
  // Carriers define numbers of their own, from 0x400 on, which usually mean a refusal.
  const code = (known?.name ?? `smpp_${status.toString(16)}`).toLowerCase();
  return { kind: 'refused', code, retryable: false, detail };
}

/** Returns a status as a label of metrics. A carrier may make up any number, and each label is kept for ever. */
export function labelOf(status: number): string {
  return Object.hasOwn(table, status) ? `0x${status.toString(16)}` : 'other';
}

/** Whether the carrier wants fewer messages in a second. */
export function isThrottled(status: number): boolean {
  return status === statuses.throttled || status === 0x14;
}

/**
 * Whether the carrier has failed, as far as one text tells: it defers the text for any reason but its rate, or it cannot
 * say whether it has the text.
 */
export function isFault(status: number): boolean {
  return status !== statuses.ok && !isThrottled(status) && outcomeOf(status).kind !== 'refused';
}

/** The carrier has answered the bind with a refusal. */
export class BindRefused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The bind was refused: ${inWords(status)}`);
    this.status = status;
  }
}

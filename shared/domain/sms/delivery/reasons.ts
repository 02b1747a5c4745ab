import type { SmsReason } from '../../../schemas/sms/sms.ts';

export const suppressed: SmsReason = {
  category: 'suppressed',
  code: 'recipient_suppressed',
  description: 'The recipient was on the suppression list when the message was due',
  retryable: false,
};
export const notApproved: SmsReason = {
  category: 'rejected',
  code: 'sender_not_approved',
  description: 'The sender was not approved for the country of the recipient when the message was due',
  retryable: false,
};
export const blocked: SmsReason = {
  category: 'rejected',
  code: 'sending_blocked',
  description: 'The workspace could not send for 48 hours',
  retryable: true,
};
export const uncertain: SmsReason = {
  category: 'failed',
  code: 'delivery_uncertain',
  description: 'The gateway’s answer was lost twice; the message may have arrived',
  retryable: true,
};
export const crashes: SmsReason = {
  category: 'failed',
  code: 'internal_error',
  description: 'The message could not be processed',
  retryable: true,
};
export const gatewayAway: SmsReason = {
  category: 'failed',
  code: 'gateway_unavailable',
  description: 'The gateway took no messages for 48 hours',
  retryable: true,
};
export const noRoute: SmsReason = {
  category: 'rejected',
  code: 'no_route',
  description: 'No gateway takes messages from this sender to this number',
  retryable: true,
};
export const heldExpired: SmsReason = {
  category: 'expired',
  code: 'held_expired',
  description: 'The workspace could not pay for the message within 72 hours',
  retryable: true,
};

/** Why a recipient is refused when a message is accepted, behind the name of the field. */
export const unreachableFrom = (sender: string) =>
  `cannot be reached from ${sender}: no gateway takes such messages`;

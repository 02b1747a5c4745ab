import type { EmailReason } from '../../../db/email/emails.ts';

export const uncertain: EmailReason = {
  category: 'failed',
  code: 'delivery_uncertain',
  description: 'The relay’s answer was lost twice; the email may have arrived',
  retryable: true,
};
export const unanswered: EmailReason = {
  ...uncertain,
  description: 'The relay’s answer was lost; the email may have arrived',
};
export const crashes: EmailReason = {
  category: 'failed',
  code: 'internal_error',
  description: 'The email could not be processed',
  retryable: true,
};
export const incomplete: EmailReason = {
  category: 'failed',
  code: 'internal_error',
  description: 'An attachment of the email was lost',
  retryable: true,
};
export const suppressed: EmailReason = {
  category: 'suppressed',
  code: 'recipient_suppressed',
  description: 'The recipient was on the suppression list when the email was due',
  retryable: false,
};
export const notVerified: EmailReason = {
  category: 'rejected',
  code: 'domain_not_verified',
  description: 'The sending domain was not verified when the email was due',
  retryable: true,
};
export const notTestRecipient: EmailReason = {
  category: 'rejected',
  code: 'test_recipient_not_verified',
  description:
    'The test sender reaches verified test recipients only, and this was none when the email was due',
  retryable: true,
};
export const blocked: EmailReason = {
  category: 'rejected',
  code: 'sending_blocked',
  description: 'Sending was blocked for this workspace for too long',
  retryable: true,
};
export const relayFault: EmailReason = {
  category: 'soft_bounce',
  code: 'relay_unavailable',
  description: 'The relay could not be used',
  retryable: true,
};
export const giveUp: EmailReason = {
  ...relayFault,
  description: 'The relay could not be used for too long',
};

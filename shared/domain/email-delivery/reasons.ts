import type { EmailReason } from '../../db/emails.ts';

export const uncertain: EmailReason = {
  category: 'failed',
  code: 'delivery_uncertain',
  description: 'The relay’s answer was lost twice; the email may have arrived',
  retryable: true,
};
export const crashes: EmailReason = {
  category: 'failed',
  code: 'internal_error',
  description: 'The email could not be processed',
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
export const giveUp: EmailReason = {
  category: 'soft_bounce',
  code: 'relay_unavailable',
  description: 'The relay could not be used for too long',
  retryable: true,
};

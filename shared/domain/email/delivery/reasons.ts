import { permanent, transient } from '../../work/reasons.ts';

export const uncertain = transient(
  'failed',
  'delivery_uncertain',
  'The relay’s answer was lost twice; the email may have arrived',
);
export const unanswered = {
  ...uncertain,
  description: 'The relay’s answer was lost; the email may have arrived',
};
export const crashes = transient('failed', 'internal_error', 'The email could not be processed');
export const incomplete = transient('failed', 'internal_error', 'An attachment of the email was lost');
export const suppressed = permanent(
  'suppressed',
  'recipient_suppressed',
  'The recipient was on the suppression list when the email was due',
);
export const notVerified = transient(
  'rejected',
  'domain_not_verified',
  'The sending domain was not verified when the email was due',
);
export const notTestRecipient = transient(
  'rejected',
  'test_recipient_not_verified',
  'The test sender reaches verified test recipients only, and this was none when the email was due',
);
export const blocked = transient(
  'rejected',
  'sending_blocked',
  'Sending was blocked for this workspace for too long',
);
export const relayFault = transient('soft_bounce', 'relay_unavailable', 'The relay could not be used');
export const giveUp = { ...relayFault, description: 'The relay could not be used for too long' };

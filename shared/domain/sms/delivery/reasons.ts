import { lasting, passing } from '../../work/reasons.ts';

export const suppressed = lasting(
  'suppressed',
  'recipient_suppressed',
  'The recipient was on the suppression list when the message was due',
);
export const notApproved = lasting(
  'rejected',
  'sender_not_approved',
  'The sender was not approved for the country of the recipient when the message was due',
);
export const blocked = passing('rejected', 'sending_blocked', 'The workspace could not send for 48 hours');
export const uncertain = passing(
  'failed',
  'delivery_uncertain',
  'The gateway’s answer was lost twice; the message may have arrived',
);
export const crashes = passing('failed', 'internal_error', 'The message could not be processed');
export const gatewayAway = passing(
  'failed',
  'gateway_unavailable',
  'The gateway took no messages for 48 hours',
);
export const noRoute = passing(
  'rejected',
  'no_route',
  'No gateway takes messages from this sender to this number',
);
export const heldExpired = passing(
  'expired',
  'held_expired',
  'The workspace could not pay for the message within 72 hours',
);

/** Why a recipient is refused when a message is accepted, behind the name of the field. */
export const unreachableFrom = (sender: string) =>
  `cannot be reached from ${sender}: no gateway takes such messages`;

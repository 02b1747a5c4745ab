import { permanent, transient } from '../../work/reasons.ts';

export const suppressed = permanent(
  'suppressed',
  'recipient_suppressed',
  'The recipient was on the suppression list when the message was due',
);
export const notApproved = permanent(
  'rejected',
  'sender_not_approved',
  'The sender was not approved for the country of the recipient when the message was due',
);
export const blocked = transient('rejected', 'sending_blocked', 'The workspace could not send for 48 hours');
export const uncertain = transient(
  'failed',
  'delivery_uncertain',
  'The gateway’s answer was lost twice; the message may have arrived',
);
export const crashes = transient('failed', 'internal_error', 'The message could not be processed');
export const gatewayAway = transient(
  'failed',
  'gateway_unavailable',
  'The gateway took no messages for 48 hours',
);
export const noRoute = transient(
  'rejected',
  'no_route',
  'No gateway takes messages from this sender to this number',
);
export const heldExpired = transient(
  'expired',
  'held_expired',
  'The workspace could not pay for the message within 72 hours',
);

/** The fault of a recipient that no gateway reaches. It continues after the name of the field. */
export const unreachableFrom = (sender: string) =>
  `cannot be reached from ${sender}: no gateway takes such messages`;

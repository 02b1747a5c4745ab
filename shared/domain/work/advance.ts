/** The fields of a message, by email or by SMS, that change with its status. */
type Advancing<Status extends string, Reason> = {
  status: Status;
  reason: Reason | null;
  updatedAt: Date;
  sentAt: Date | null;
  deliveredAt: Date | null;
  dueAt: Date | null;
  parked: boolean;
  eventSeq: number;
};

/**
 * Makes the function that returns a message in its next status. The function throws where `next` does not allow the
 * status: that is a fault of ours.
 */
export function advancer<Status extends string, Reason, Message extends Advancing<Status, Reason>>(
  next: Record<Status, readonly Status[]>,
): (message: Message, status: Status, change: { at: Date; reason?: Reason }) => Message {
  return (message, status, { at, reason }) => {
    if (!next[message.status].includes(status))
      throw new Error(`A message does not go from ${message.status} to ${status}`);
    return {
      ...message,
      status,
      reason: reason ?? null,
      // This time never goes back, not even when the clocks of two processes differ a little.
      updatedAt: at > message.updatedAt ? at : message.updatedAt,
      sentAt: status === 'sent' ? at : message.sentAt,
      deliveredAt: status === 'delivered' ? at : message.deliveredAt,
      dueAt: null,
      parked: false,
      eventSeq: message.eventSeq + 1,
    };
  };
}

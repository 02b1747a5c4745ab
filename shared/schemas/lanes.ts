/**
 * The lanes in which messages go out, the most urgent first. Their order is defined only here: queues, rows, slots of
 * a process and connections to the relay follow it.
 */
export const emailLanes = ['authentication', 'transactional', 'marketing'] as const;
/** Codes of the platform itself, single texts, batches (API decisions §9). */
export const smsLanes = ['urgent', 'default', 'bulk'] as const;
/** Batches that still become messages, and those whose messages are awaited. */
export const batchLanes = ['expand', 'follow'] as const;

export type EmailLane = (typeof emailLanes)[number];
export type SmsLane = (typeof smsLanes)[number];
export type BatchLane = (typeof batchLanes)[number];

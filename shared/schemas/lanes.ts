/**
 * The lanes of messages, the most urgent first. Their order is defined only here: queues, rows, the slots of a process
 * and the connections to the relay all follow it.
 */
export const emailLanes = ['authentication', 'transactional', 'marketing'] as const;
/** The lanes of texts: codes of the platform itself, single texts, batches (API decisions §9). */
export const smsLanes = ['urgent', 'default', 'bulk'] as const;
/**
 * The lanes of batches: batches whose rows still become messages, and batches that wait for the end of their messages.
 */
export const batchLanes = ['expand', 'follow'] as const;

export type EmailLane = (typeof emailLanes)[number];
export type SmsLane = (typeof smsLanes)[number];
export type BatchLane = (typeof batchLanes)[number];

import { orRefuse, type Refuse } from '../../common/faults.ts';
import { type Mailbox, parseMailbox } from '../../formats/email/address.ts';
import { findSending, isTestSender } from './senders.ts';

const strangeToTags = /(?<!\p{L}\p{M}*)\p{M}|[^\p{L}\p{M}\p{Nd}]/gu;

/**
 * Returns a tag as it is stored (API decisions §8): letters and digits of any script stay. The marks after a letter
 * stay too, because they belong to it: a Hindi word without its vowel signs is another word, and the lower case of `İ`
 * is a letter with a mark. Other marks do not stay. The mark in the emoji ❤️, for example, cannot be seen.
 */
export function normalTag(tag: string): string {
  return tag.toLowerCase().replace(strangeToTags, '-');
}

export function parseField(field: string, text: string | undefined, refuse: Refuse): Mailbox | null {
  if (text === undefined) return null;
  return orRefuse(parseMailbox(text, { allowDisplayName: true }), field, refuse)?.mailbox ?? null;
}

const fiveMinutesMs = 5 * 60_000;

export function checkSchedule(scheduledAt: Date | null, time: Date, refuse: Refuse): void {
  if (!scheduledAt) return;
  const threeMonthsAhead = new Date(time);
  threeMonthsAhead.setUTCMonth(time.getUTCMonth() + 3);
  // 30 November and three months is the end of February, not the start of March.
  if (threeMonthsAhead.getUTCDate() !== time.getUTCDate()) threeMonthsAhead.setUTCDate(0);
  if (scheduledAt.getTime() <= time.getTime() + fiveMinutesMs)
    refuse('scheduledAt', 'must be more than 5 minutes ahead');
  else if (scheduledAt >= threeMonthsAhead) refuse('scheduledAt', 'must be less than 3 months ahead');
}

type Correspondents = { sender: Mailbox; recipient: Mailbox | null; isScheduled: boolean };

/** Checks that the workspace may send from this sender to this recipient (null where it was refused already). */
export async function checkSender(
  workspaceId: string,
  { sender, recipient, isScheduled }: Correspondents,
  refuse: Refuse,
): Promise<void> {
  if (isTestSender(sender)) {
    if (isScheduled) refuse('scheduledAt', 'is not available with the shared test sender');
    if (!recipient) return;
  }
  const sending = await findSending(workspaceId, sender, recipient);
  if (sending.maySend) return;
  if (sending.because === 'recipient')
    refuse('recipient', 'must be a verified test recipient: the shared test sender sends only to these');
  else
    refuse('sender', `must be of a verified sending domain of this workspace; ${sender.domain} is not one`);
}

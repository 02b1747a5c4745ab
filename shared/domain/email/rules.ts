import { type Mailbox, parseMailbox } from '../../formats/email-address.ts';

/** Notes what is wrong with a field; everything wrong with a request is reported at once. */
export type Refuse = (field: string, message: string) => void;

/** A tag as it is stored (spec §4). Lower-cased last: the lower case of some letters is longer, and not a letter. */
export function normalTag(tag: string): string {
  return tag.replace(/[^A-Za-z0-9]/gu, '-').toLowerCase();
}

export function parseField(
  field: string,
  text: string,
  allowDisplayName: boolean,
  refuse: Refuse,
): Mailbox | null {
  const parsed = parseMailbox(text, { allowDisplayName });
  if (parsed.ok) return parsed.mailbox;
  refuse(field, parsed.message);
  return null;
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

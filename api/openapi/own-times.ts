import { config } from '../../shared/config/config.ts';
import { lifeMs } from '../../shared/domain/webhooks/deliveries/expire.ts';

const dayMs = 86_400_000;

/** How long this platform keeps what its texts speak of, by the names that the texts have for it. */
export function ownTimes() {
  const days = config.EVENT_RETENTION_DAYS;
  // The purge comes an hour after the last day. A delivery can be sent again on that day and take its life once more.
  const lastRepeat = days + 1 / 24;
  return {
    eventDays: String(days),
    deliveryIdDays: String(Math.ceil(lastRepeat + lifeMs() / dayMs)),
    repeatedIdDays: String(Math.ceil(lastRepeat)),
  };
}

/**
 * Puts these times into a text: for `{{eventDays}}` and the like, and for the numbers that a file of Markdown has before
 * a comment with such a name, since the repository shows that file as it is. Other braces, such as those of Liquid, stay.
 */
export function withOwnTimes(text: string): string {
  const times = new Map(Object.entries(ownTimes()));
  return text.replaceAll(
    /\{\{(\w+)\}\}|\d+<!-- (\w+) -->/g,
    (all, place: string | undefined, noted: string) => times.get(place ?? noted) ?? all,
  );
}

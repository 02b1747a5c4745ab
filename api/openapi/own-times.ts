import { config } from '../../shared/config/config.ts';
import { lifeMs } from '../../shared/domain/webhooks/deliveries/expire.ts';

const dayMs = 86_400_000;

/** The retention times of this platform, by the names that the texts use for them. */
export function ownTimes() {
  const days = config.EVENT_RETENTION_DAYS;
  // The purge deletes a delivery an hour after its last day. On that day the delivery can still be sent again, and then
  // live as long as a new one.
  const lastRepeat = days + 1 / 24;
  return {
    eventDays: String(days),
    deliveryIdDays: String(Math.ceil(lastRepeat + lifeMs() / dayMs)),
    repeatedIdDays: String(Math.ceil(lastRepeat)),
  };
}

/**
 * Puts these times into a text, in the place of `{{eventDays}}` and the like. A Markdown file has a number and then a
 * comment with such a name, because the repository shows the file as it is; there the number is replaced. Other braces,
 * such as those of Liquid, stay.
 */
export function withOwnTimes(text: string): string {
  const times = new Map(Object.entries(ownTimes()));
  return text.replaceAll(
    /\{\{(\w+)\}\}|\d+<!-- (\w+) -->/g,
    (all, place: string | undefined, noted: string) => times.get(place ?? noted) ?? all,
  );
}

const defaultSeconds = 60;
const longestSeconds = 86_400;

/** How long a 429 asks us to wait: seconds or an HTTP date (RFC 9110 §10.2.3). */
export function retryAfterSeconds(header: string | null, now: Date): number {
  const seconds = asked(header?.trim() ?? '', now);
  return Number.isNaN(seconds) ? defaultSeconds : Math.min(Math.max(Math.ceil(seconds), 1), longestSeconds);
}

function asked(text: string, now: Date): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  // All three forms of RFC 9110 §5.6.7 begin with a day; the oldest one names no zone.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return Number.NaN;
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return (date - now.getTime()) / 1000;
}

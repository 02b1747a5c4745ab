import { faultOf } from './faults.ts';

/** Settings that are compared with each other. A malformed setting is left out, and so are its comparisons. */
type ComparedSettings = {
  LEASE_SECONDS?: number | undefined;
  SMTP_TIMEOUT_SECONDS?: number | undefined;
  WEBHOOK_TIMEOUT_SECONDS?: number | undefined;
  SHORT_LINK_URL?: string | undefined;
  PUBLIC_URL?: string | undefined;
};

/** Returns a line for each well-formed setting that does not go together with the others. */
export function disagreements(settings: ComparedSettings): string[] {
  return [...leaseFaults(settings), ...shortLinkFaults(settings)];
}

// A setting that is left out is NaN: no comparison with NaN is true, so it makes no fault.
function leaseFaults({
  LEASE_SECONDS = Number.NaN,
  SMTP_TIMEOUT_SECONDS = Number.NaN,
  WEBHOOK_TIMEOUT_SECONDS = Number.NaN,
}: ComparedSettings): string[] {
  // A worker that outlives its lease would race its successor, so the numbers must leave room.
  const least = 2 * Math.max(SMTP_TIMEOUT_SECONDS, WEBHOOK_TIMEOUT_SECONDS);
  if (!(LEASE_SECONDS < least)) return [];
  const form = `must be a number of at least ${least}, twice the longer of SMTP_TIMEOUT_SECONDS and WEBHOOK_TIMEOUT_SECONDS`;
  return [faultOf('LEASE_SECONDS', form, String(least))];
}

/** How long a stop takes besides the work in progress. */
const leastRestSeconds = 5;
type HandOvers = Record<
  'SMTP_TIMEOUT_SECONDS' | 'SMS_TIMEOUT_SECONDS' | 'WEBHOOK_TIMEOUT_SECONDS' | 'SHUTDOWN_SECONDS',
  number
>;

/**
 * Returns a warning if a stop may interrupt a hand-over; null if not. Some hosts allow no longer stop, so the process
 * starts all the same.
 */
export function shortGrace({ SHUTDOWN_SECONDS: grace, ...settings }: HandOvers): string | null {
  const timeouts = ['SMTP_TIMEOUT_SECONDS', 'SMS_TIMEOUT_SECONDS', 'WEBHOOK_TIMEOUT_SECONDS'] as const;
  const longer = timeouts.filter((name) => settings[name] + leastRestSeconds > grace);
  if (longer.length === 0) return null;
  const least = leastRestSeconds + Math.max(...timeouts.map((name) => settings[name]));
  return `SHUTDOWN_SECONDS is ${grace}, so a stop may interrupt a hand-over, and the message may then be sent twice. Set SHUTDOWN_SECONDS to at least ${least}, or make ${longer.join(' and ')} shorter`;
}

function shortLinkFaults({ SHORT_LINK_URL, PUBLIC_URL }: ComparedSettings): string[] {
  if (SHORT_LINK_URL === undefined || PUBLIC_URL === undefined) return [];
  const [own, platform] = [new URL(SHORT_LINK_URL), new URL(PUBLIC_URL)];
  // Without a path of their own, the short links would have the addresses of the platform's pages.
  if (own.host !== platform.host || !['/', platform.pathname].includes(own.pathname)) return [];
  const form = 'must have a path of its own where it has the host of PUBLIC_URL';
  return [faultOf('SHORT_LINK_URL', form, `${PUBLIC_URL}/l`)];
}

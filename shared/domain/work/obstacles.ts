import { isCrashLoop, logGivenUp } from './crash-loops.ts';
import { dueSince, type Scheduled } from './retry-times.ts';

type Claimed = Scheduled & { id: string; claims: number; retries: number; uncertainCount: number };

/**
 * Returns why a claimed email or text is not handed over: a reason to fail it with, or `held_back` while its workspace
 * may not send; null where nothing stands in the way. `isPast`: whether its time is up where it began to wait then.
 */
export function obstacleTo<Reason>(
  message: Claimed,
  options: {
    work: 'email' | 'sms';
    isSuppressed: boolean;
    blockedSince: Date | null;
    reasons: Record<'uncertain' | 'crashes' | 'suppressed' | 'blocked', Reason>;
    isPast: (since: Date) => boolean;
  },
): Reason | 'held_back' | null {
  const { work, isSuppressed, blockedSince, reasons, isPast } = options;
  if (message.uncertainCount > 1) return reasons.uncertain;
  if (isCrashLoop(message.claims - 1 - message.retries)) {
    logGivenUp(work, { [`${work}Id`]: message.id });
    return reasons.crashes;
  }
  if (isSuppressed) return reasons.suppressed;
  if (!blockedSince) return null;
  // A limit may have delayed the message before the block.
  const heldBackSince = new Date(Math.max(dueSince(message).getTime(), blockedSince.getTime()));
  return isPast(heldBackSince) ? reasons.blocked : 'held_back';
}

import { atMostEvery, logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';

/**
 * Counts the messages of a gateway that we do not take, and warns the operator of each kind at most once a minute:
 * receipts that we cannot read, messages that are no deliver_sm that we can decode, and messages beyond the number that
 * a session handles at a time.
 */
export function messagesNotTaken(gateway: string) {
  const mayWarnOf = {
    receipt: atMostEvery(60_000),
    message: atMostEvery(60_000),
    flood: atMostEvery(60_000),
  };
  return {
    unread(what: 'receipt' | 'message', detail: string): void {
      count('sms_gateway_unread', { gateway, what });
      if (mayWarnOf[what]())
        logger.warn({ gateway, what, detail }, 'a receipt or an incoming text of a gateway cannot be read');
    },
    flood(): void {
      count('sms_gateway_floods', { gateway });
      if (mayWarnOf.flood())
        logger.warn(
          { gateway },
          'a gateway sends more receipts and texts at a time than a process takes; it must send the rest again',
        );
    },
  };
}

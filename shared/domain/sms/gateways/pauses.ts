import { logger } from '../../../common/logger.ts';
import { config } from '../../../config/config.ts';
import { outsideTransaction } from '../../../db/client.ts';
import { listGatewayPauses } from '../../../db/sms/gateway-pauses.system.ts';
import { pauseGateways } from '../../../transports/sms.ts';

/** A process learns of a pause within this time. */
const freshMs = 2_000;

let readAt = Number.NEGATIVE_INFINITY;
let reading: Promise<void> | null = null;

/**
 * Reads the pauses again if they are not fresh; must run before a gateway is chosen. While the database is away, the
 * last known pauses stay.
 */
export function heed(): Promise<void> {
  if (!config.SMS_GATEWAYS || performance.now() - readAt < freshMs) return Promise.resolve();
  // All callers wait for the same read, so it must not run in the transaction of one of them.
  reading ??= outsideTransaction(read).finally(() => {
    reading = null;
  });
  return reading;
}

async function read(): Promise<void> {
  try {
    pauseGateways((await listGatewayPauses()).map(({ gateway }) => gateway));
  } catch (error) {
    logger.debug({ err: error }, 'the pauses of gateways could not be read');
  }
  readAt = performance.now();
}

/** Makes the next `heed` read the pauses again. */
export function forget(): void {
  readAt = Number.NEGATIVE_INFINITY;
}

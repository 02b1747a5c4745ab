import { logger } from '../../../common/logger.ts';
import { config } from '../../../config/config.ts';
import { listGatewayPauses } from '../../../db/sms/gateway-pauses.system.ts';
import { pauseGateways } from '../../../transports/sms.ts';

/** A process knows of a pause after so long at the latest. */
const freshMs = 2_000;

let readAt = Number.NEGATIVE_INFINITY;
let reading: Promise<void> | null = null;

/** Belongs before a gateway is chosen. While the database is away what was known last goes on. */
export function heed(): Promise<void> {
  if (!config.SMS_GATEWAYS || performance.now() - readAt < freshMs) return Promise.resolve();
  reading ??= read().finally(() => {
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

/** The pauses that were read are no longer true. */
export function forget(): void {
  readAt = Number.NEGATIVE_INFINITY;
}

import { type Migration, tableOptions } from './migration.ts';

export const smsGatewayPauses: Migration = {
  name: '0038_sms_gateway_pauses',
  up: [
    // Gateways to which the operator lets no new texts go, by their names in SMS_GATEWAYS.
    `CREATE TABLE IF NOT EXISTS sms_gateway_pauses (
      gateway VARBINARY(20) NOT NULL PRIMARY KEY,
      paused_at DATETIME(3) NOT NULL
    ) ${tableOptions}`,
  ],
  down: ['DROP TABLE IF EXISTS sms_gateway_pauses'],
};

import { type Migration, tableOptions } from './migration.ts';

/** The posts of gateways: each counts once, however often it comes. */
export const smsGatewayPosts: Migration = {
  name: '0036_sms_gateway_posts',
  up: [
    // digest: of the kind of post and the id that the gateway gave it.
    `CREATE TABLE IF NOT EXISTS sms_gateway_posts (
      gateway VARBINARY(20) NOT NULL,
      digest BINARY(32) NOT NULL,
      received_at DATETIME(3) NOT NULL,
      PRIMARY KEY (gateway, digest),
      KEY sms_gateway_posts_received (received_at)
    ) ${tableOptions}`,
  ],
  down: ['DROP TABLE IF EXISTS sms_gateway_posts'],
};

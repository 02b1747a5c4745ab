import { isIP } from 'node:net';
import { z } from 'zod';
import { integer, list, number } from './kinds.ts';
import { isNetwork } from './networks.ts';

/** Settings of webhook deliveries. */
export const webhookSettings = {
  WEBHOOK_CONCURRENCY: integer(200, { min: 1 }).describe(
    'Requests to webhooks that a process has out at a time for one workspace; towards this many, each webhook gets fewer, and beside others each workspace',
  ),
  WEBHOOK_IN_FLIGHT_PER_WEBHOOK: integer(20, { min: 1 }).describe(
    'Requests to one webhook, and to one origin for all webhooks of a workspace, that a process has out at a time',
  ),
  WEBHOOK_JOBS_PER_WEBHOOK: integer(500, { min: 2 }).describe(
    'Deliveries of one webhook that Redis holds; the others wait in MySQL',
  ),
  WEBHOOK_TIMEOUT_SECONDS: number(10, { min: 0.05 }).describe('Connect, send and status line'),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: z
    .string()
    .default('300,900,3600,14400,28800,43200')
    .transform((text, context) => {
      const seconds = text.split(',').map(Number);
      if (seconds.some((value) => !(value > 0)))
        context.addIssue({ code: 'custom', message: 'must be positive seconds, separated by commas' });
      return seconds;
    })
    .describe('Waits between the attempts of a delivery'),
  WEBHOOK_AUTO_DISABLE_MINUTES: integer(360, { min: 5, max: 10080 }).describe(
    'How long a webhook may fail before it is switched off, where it does not say so itself',
  ),
  WEBHOOK_HEALTH_SECONDS: number(15, { min: 0.1, max: 30 }).describe(
    'How often the clock is held against webhooks that fail',
  ),
  WEBHOOK_ALLOWED_NETWORKS: list
    .refine((networks) => networks.every(isNetwork), 'must be networks in CIDR form, several with commas')
    .describe(
      'CIDRs of private networks, and of addresses of this machine, that webhooks may reach all the same',
    ),
  WEBHOOK_PUBLIC_ADDRESSES: list
    .refine(
      (addresses) => addresses.every((address) => isIP(address) !== 0),
      'must be IP addresses, several with commas',
    )
    .describe(
      'Addresses that customers see deliveries come from, for their firewalls; none: WEBHOOK_LOCAL_ADDRESS. Behind a NAT they are its own',
    ),
  WEBHOOK_LOCAL_ADDRESS: z
    .string()
    .refine((address) => isIP(address) !== 0, 'must be an IP address')
    .optional()
    .describe('Local address that deliveries are sent from'),
};

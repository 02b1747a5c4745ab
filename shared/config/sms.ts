import { z } from 'zod';
import { integer, number } from './kinds.ts';
import { gatewayList } from './sms-gateways.ts';

/** Settings of sending and receiving SMS. */
export const smsSettings = {
  SMS_MAX_PARTS: integer(10, { min: 1, max: 255 }).describe('Parts that one text message may have'),
  SMS_GATEWAY: z
    .enum(['simulator'])
    .default('simulator')
    .describe('Carrier of text messages; the simulator sends none, and keeps them where the API shows them'),
  SMS_GATEWAYS: gatewayList
    .optional()
    .describe(
      'Carriers: a list in JSON, or the path of a file with one; each has a name, a type (smpp, http, simulator) and what it is for. A message takes the first that fits and is up. In place of SMS_GATEWAY',
    ),
  SMS_TIMEOUT_SECONDS: number(10, { min: 0.1, max: 60 }).describe('Longest hand-over of one text'),
  SMS_CONCURRENCY: integer(200, { min: 1 }).describe(
    'Texts that a process handles at the same time in each lane; one workspace gets at most five sixths of them, and less beside others',
  ),
  SMS_JOBS_PER_WORKSPACE: integer(500, { min: 2 }).describe(
    'Texts of one workspace and lane that Redis holds; the others wait in MySQL',
  ),
  SMS_RETENTION_DAYS: number(90, { min: 31 }).describe(
    'Text messages are kept this long after they were accepted, or after the time they were scheduled for; those of the simulator this long',
  ),
  SIMULATOR_SECONDS: number(1, { min: 0, max: 3600 }).describe(
    'How long a phone of the simulator takes to report a text, or to answer it',
  ),
  SHORT_LINK_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
    .optional()
    .transform((url) => url?.replace(/\/+$/, ''))
    .describe(
      'Address that short links begin with: a domain of their own, such as https://acme.example, or a path; default PUBLIC_URL with /l. A domain of their own serves nothing else',
    ),
  SHORT_LINK_MISSES_PER_MINUTE: number(300, { min: 0 }).describe(
    'Requests for unknown short links, per minute and IP address (IPv6: per /64); above this the address must wait; 0 is no limit',
  ),
  SHORT_LINKS_TO_DRAMA_NUMBERS: z
    .stringbool()
    .default(false)
    .describe(
      'Development only: short links in texts to 07700 900000 to 900999 lead somewhere. No carrier bills such texts and no phone gets them, so anybody could make links with them',
    ),
  SMS_SYSTEM_SENDER: z
    .string()
    .regex(/^([A-Za-z0-9_ ]{3,11}|\+[1-9][0-9]{6,14})$/, 'must be a name of 3 to 11 characters, or in E.164')
    .default('Messaging')
    .describe('Sender of the texts of the platform itself: the codes that verify mobile numbers'),
};

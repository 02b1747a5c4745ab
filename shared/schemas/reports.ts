import { z } from 'zod';
import { zoneNamed } from '../formats/time-zone.ts';
import { EmailKind } from './email/email.ts';
import { Moment, Timestamp, text } from './fields.ts';

/** A date, which is in the time zone of the report, or a time. */
export type ReportBound = { date: number } | { time: Date };

export const ReportBound = z
  .string()
  .transform((value, context): ReportBound => {
    if (/^\d{4}-\d{2}-\d{2}$/.test(value)) {
      const date = Date.parse(`${value}T00:00:00Z`);
      if (!Number.isNaN(date) && new Date(date).toISOString().startsWith(value)) return { date };
    } else {
      const moment = Moment.safeParse(value);
      if (moment.success) return { time: moment.data };
    }
    context.addIssue({
      code: 'custom',
      message: 'must be a date, or a date and time with an offset, as in RFC 3339',
    });
    return z.NEVER;
  })
  .meta({ example: '2026-11-01' });

const TimeZone = text({ min: 1, max: 64 })
  .transform((value, context): string => {
    const zone = zoneNamed(value);
    if (zone !== null) return zone;
    context.addIssue({
      code: 'custom',
      message: 'must be a time zone of the IANA database, such as Europe/London',
    });
    return z.NEVER;
  })
  .meta({ example: 'Europe/London' });

const ReportChannel = z.enum(['email', 'sms']).describe('The kind of the messages: email or sms');

const stretch = {
  from: ReportBound.optional().describe(
    'Counts messages that were accepted at or after this time. A date in timeZone, or RFC 3339 with any offset; default: 30 days before to',
  ),
  to: ReportBound.optional().describe(
    'Counts messages that were accepted before this time, which is at most 400 days after from. Default: the end of this hour',
  ),
  timeZone: TimeZone.default('UTC').meta({
    description: 'The time zone of the days and months',
    example: 'Europe/London',
  }),
};

export const ReportFilter = z.object({
  ...stretch,
  channel: ReportChannel.optional().describe('Messages of this channel; default: both'),
});
export type ReportFilter = z.infer<typeof ReportFilter>;

export const SendsFilter = z.object({
  ...ReportFilter.shape,
  interval: z
    .enum(['hour', 'day', 'month'])
    .default('day')
    .describe('The time that each row covers; hour only for at most 31 days'),
});
export type SendsFilter = z.infer<typeof SendsFilter>;

const Count = z.int().min(0);
const Rate = z.string().nullable();
const rateOf = (what: string) =>
  Rate.meta({ description: `${what}, with four decimals; null if the divisor is 0`, example: '0.9876' });

export const ReportCost = z
  .object({
    gbp: z.string().describe('Pounds, with four decimals'),
    eur: z.string().describe('Euros, with four decimals'),
  })
  .meta({
    id: 'ReportCost',
    description: 'The price of all texts together',
    example: { gbp: '12.3400', eur: '14.1900' },
  });

const counts = {
  accepted: Count.describe('Messages that were accepted'),
  queued: Count.describe('Accepted messages that now have the status queued'),
  held: Count.describe('Messages that wait until the workspace can pay for them'),
  sent: Count.describe('Messages that were handed over, not yet delivered or failed'),
  delivered: Count.describe('Messages that the mail server accepted, or that arrived on the phone'),
  failed: Count.describe('Messages that will not arrive'),
  cancelled: Count.describe('Messages that were cancelled before they were sent'),
  parts: Count.describe('SMS parts of the texts'),
  cost: ReportCost.describe('The price of these texts; emails cost nothing'),
};

/** `id` names the shape in the API description, and `rowText` says there what a row is. */
function reportOf<Row extends z.ZodObject>(row: Row, id: string, rowText: string) {
  return z
    .object({
      from: Timestamp.describe('The first hour that is counted'),
      to: Timestamp.describe('The end of the counted time: the first hour that is not counted'),
      timeZone: z.string().describe('The time zone of the days and months'),
      timeZoneRounded: z
        .boolean()
        .describe(
          'true if a day, month or hour of this time zone does not begin at a full hour of UTC; its bound was then rounded down to the full hour',
        ),
      data: z.array(row.meta({ id: `${id}Row`, description: rowText })).describe('The rows of the report'),
      nextCursor: z.null().describe('Always null: a report has only one page'),
    })
    .meta({ id, description: 'A report: its rows, and the time that it covers' });
}

export const SendsReport = reportOf(
  z.object({
    start: Timestamp.describe('The beginning of the interval'),
    channel: ReportChannel,
    ...counts,
  }),
  'SendsReport',
  'The messages that were accepted in one interval, by their status now',
);
export type SendsReport = z.infer<typeof SendsReport>;

export const ClientTagsReport = reportOf(
  z.object({
    clientTag: z
      .string()
      .nullable()
      .describe('The tag. null: messages without a tag; `(other)`: all tags after the first 1,000 of a day'),
    channel: ReportChannel,
    ...counts,
    deliveredRate: rateOf('Delivered messages divided by accepted messages'),
  }),
  'ClientTagsReport',
  'The messages with one tag in one channel, by their status now',
);
export type ClientTagsReport = z.infer<typeof ClientTagsReport>;

const Gateway = z.string().nullable();

export const ReportedError = z
  .object({
    errorCode: z.string().meta({
      description: 'The code of the reason; `(other)`: all codes after the first 200 of a day',
      example: 'undeliverable',
    }),
    messages: Count.describe('How many texts failed with this code'),
  })
  .meta({ id: 'ReportedError', description: 'A reason why texts of this row failed' });
export type ReportedError = z.infer<typeof ReportedError>;

export const CountriesReport = reportOf(
  z.object({
    country: z
      .string()
      .nullable()
      .describe('ISO 3166-1 alpha-2; null if the number does not show its country'),
    gateway: Gateway.describe(
      'The carrier that accepted or refused the texts; null if no carrier has accepted or refused them yet, or none was asked',
    ),
    channel: ReportChannel,
    ...counts,
    deliveredRate: rateOf('Delivered messages divided by accepted messages'),
    errors: z
      .array(ReportedError)
      .describe(
        'The error codes of the failed texts, most frequent first: the first 20. In CSV, such as `expired=3; undeliverable=1`',
      ),
  }),
  'CountriesReport',
  'The texts to one country through one carrier, by their status now',
);
export type CountriesReport = z.infer<typeof CountriesReport>;

const Seconds = z.number().min(0).nullable();
const secondsOf = (share: string) => Seconds.describe(`${share} took at most this many seconds`);
const Latencies = z
  .object({
    count: Count.describe('How many messages reached this status'),
    p50: secondsOf('Half of the messages'),
    p90: secondsOf('90 of 100 messages'),
    p95: secondsOf('95 of 100 messages'),
    p99: secondsOf('99 of 100 messages'),
    max: secondsOf('All messages'),
  })
  .meta({
    id: 'Latencies',
    description: 'Times in seconds, exact to 4 %; null if no message reached this status',
  });

export const LatencyReport = reportOf(
  z.object({
    channel: ReportChannel,
    kind: z
      .union([EmailKind, z.enum(['single', 'batch'])])
      .describe('For emails, their kind; for texts, single or batch'),
    gateway: Gateway.describe('The carrier of the texts; null for emails'),
    sent: Latencies.describe('Seconds from accepted, or from scheduledAt, to sent'),
    delivered: Latencies.describe('Seconds from sent to delivered'),
  }),
  'LatencyReport',
  'How long the messages of one channel, kind and carrier took',
);
export type LatencyReport = z.infer<typeof LatencyReport>;

export const DeliverabilityReport = reportOf(
  z.object({
    by: z
      .enum(['recipientDomain', 'sendingDomain'])
      .describe('Whether domain is of recipients, or a sending domain of yours'),
    domain: z.string().describe('The domain; `(other)`: all domains after the first 500 of a day'),
    accepted: Count.describe('Emails that were accepted'),
    delivered: Count.describe('Emails that the mail server of the recipient accepted'),
    hardBounces: Count.describe('Emails that the mail server refused permanently'),
    softBounces: Count.describe('Emails that the mail server refused temporarily, too many times'),
    rejected: Count.describe('Emails that could not be composed, or were not allowed'),
    suppressed: Count.describe('Emails that were not sent because the address is suppressed'),
    complaints: Count.describe('Emails that were reported as spam'),
    opened: Count.describe('Emails that were opened at least once'),
    deliveredRate: rateOf('Delivered messages divided by accepted messages'),
    bounceRate: rateOf('Hard and soft bounces divided by accepted emails'),
    complaintRate: rateOf('Complaints divided by delivered emails'),
  }),
  'DeliverabilityReport',
  'The emails to one domain of recipients, or from one of your sending domains, by result',
);
export type DeliverabilityReport = z.infer<typeof DeliverabilityReport>;

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

const ReportChannel = z.enum(['email', 'sms']).describe('What the messages are');

const stretch = {
  from: ReportBound.optional().describe(
    'Messages that were accepted at or after, as a date in timeZone or RFC 3339 with any offset; default 30 days before to',
  ),
  to: ReportBound.optional().describe(
    'Accepted before; at most 400 days later. Default the end of this hour',
  ),
  timeZone: TimeZone.default('UTC').meta({
    description: 'Whose days and months they are',
    example: 'Europe/London',
  }),
};

export const ReportFilter = z.object({
  ...stretch,
  channel: ReportChannel.optional().describe('Default both'),
});
export type ReportFilter = z.infer<typeof ReportFilter>;

export const SendsFilter = z.object({
  ...ReportFilter.shape,
  interval: z
    .enum(['hour', 'day', 'month'])
    .default('day')
    .describe('How long each row is; hours for at most 31 days'),
});
export type SendsFilter = z.infer<typeof SendsFilter>;

const Count = z.int().min(0);
const Rate = z.string().nullable();
const rateOf = (what: string) =>
  Rate.meta({ description: `${what}, to four decimals; null of none`, example: '0.9876' });

export const ReportCost = z
  .object({
    gbp: z.string().describe('Pounds, with four decimals'),
    eur: z.string().describe('Euros, with four decimals'),
  })
  .meta({ id: 'ReportCost', description: 'Of texts, together', example: { gbp: '12.3400', eur: '14.1900' } });

const counts = {
  accepted: Count.describe('Messages that were accepted'),
  queued: Count.describe('Of them, by the status that they have now'),
  held: Count.describe('Waiting until the workspace can pay for them'),
  sent: Count.describe('Handed over, outcome awaited'),
  delivered: Count.describe('Accepted by the mail server, or on the phone'),
  failed: Count.describe('Not to arrive'),
  cancelled: Count.describe('Cancelled before they were sent'),
  parts: Count.describe('Parts of texts'),
  cost: ReportCost.describe('The price of these texts; emails cost nothing'),
};

/** `id` names the shape in the API description, and `rowText` says there what a row is. */
function reportOf<Row extends z.ZodObject>(row: Row, id: string, rowText: string) {
  return z
    .object({
      from: Timestamp.describe('The first hour that is counted'),
      to: Timestamp.describe('The first that is counted no more'),
      timeZone: z.string().describe('Whose days and months they are'),
      timeZoneRounded: z
        .boolean()
        .describe('A bound of the time zone is within an hour of UTC, and was rounded down to it'),
      data: z.array(row.meta({ id: `${id}Row`, description: rowText })).describe('All rows'),
      nextCursor: z.null().describe('A report is one page'),
    })
    .meta({ id, description: 'The rows of a report, and the time that they are of' });
}

export const SendsReport = reportOf(
  z.object({
    start: Timestamp.describe('When the interval begins'),
    channel: ReportChannel,
    ...counts,
  }),
  'SendsReport',
  'What became of the messages that were accepted in one interval',
);
export type SendsReport = z.infer<typeof SendsReport>;

export const ClientTagsReport = reportOf(
  z.object({
    clientTag: z
      .string()
      .nullable()
      .describe('null: messages without one; `(other)`: those beyond the first 1,000 of a day together'),
    channel: ReportChannel,
    ...counts,
    deliveredRate: rateOf('Delivered of accepted'),
  }),
  'ClientTagsReport',
  'What became of the messages with one tag in one channel',
);
export type ClientTagsReport = z.infer<typeof ClientTagsReport>;

const Gateway = z.string().nullable();

export const ReportedError = z
  .object({
    errorCode: z.string().meta({
      description: 'The code of the reason; `(other)`: those beyond the first 200 of a day together',
      example: 'undeliverable',
    }),
    messages: Count.describe('Texts that failed with it'),
  })
  .meta({ id: 'ReportedError', description: 'A reason for which texts of a row have failed' });
export type ReportedError = z.infer<typeof ReportedError>;

export const CountriesReport = reportOf(
  z.object({
    country: z.string().nullable().describe('ISO 3166-1 alpha-2; null where the number does not tell'),
    gateway: Gateway.describe(
      'The carrier that has them, or has refused them; null while none has, and of texts that none was asked about',
    ),
    channel: ReportChannel,
    ...counts,
    deliveredRate: rateOf('Delivered of accepted'),
    errors: z
      .array(ReportedError)
      .describe(
        'Of the failed ones, most messages first, the first 20; in CSV such as `expired=3; undeliverable=1`',
      ),
  }),
  'CountriesReport',
  'What became of the texts to one country',
);
export type CountriesReport = z.infer<typeof CountriesReport>;

const Seconds = z.number().min(0).nullable();
const secondsOf = (share: string) => Seconds.describe(`${share} took no longer`);
const Latencies = z
  .object({
    count: Count.describe('Messages that came so far'),
    p50: secondsOf('Half of them'),
    p90: secondsOf('90 in 100'),
    p95: secondsOf('95 in 100'),
    p99: secondsOf('99 in 100'),
    max: secondsOf('All of them'),
  })
  .meta({ id: 'Latencies', description: 'Seconds, within 4 %; null where no message came so far' });

export const LatencyReport = reportOf(
  z.object({
    channel: ReportChannel,
    kind: z
      .union([EmailKind, z.enum(['single', 'batch'])])
      .describe('The kind of an email; single or batch of a text'),
    gateway: Gateway.describe('The carrier of texts; null of emails'),
    sent: Latencies.describe('From accepted, or scheduledAt, to sent, in seconds'),
    delivered: Latencies.describe('From sent to delivered, in seconds'),
  }),
  'LatencyReport',
  'How long messages of one channel and kind took',
);
export type LatencyReport = z.infer<typeof LatencyReport>;

export const DeliverabilityReport = reportOf(
  z.object({
    by: z.enum(['recipientDomain', 'sendingDomain']).describe('Whose domain it is'),
    domain: z.string().describe('`(other)`: those beyond the first 500 of a day together'),
    accepted: Count.describe('Emails that were accepted'),
    delivered: Count.describe('Accepted by the mail server'),
    hardBounces: Count.describe('Refused for good'),
    softBounces: Count.describe('Refused for now, too often'),
    rejected: Count.describe('Not composed, or not allowed'),
    suppressed: Count.describe('Not sent, as the address is suppressed'),
    complaints: Count.describe('Reported as spam'),
    opened: Count.describe('Opened at least once'),
    deliveredRate: rateOf('Delivered of accepted'),
    bounceRate: rateOf('Hard and soft bounces of accepted'),
    complaintRate: rateOf('Complaints of delivered'),
  }),
  'DeliverabilityReport',
  'What became of the emails to one domain of recipients, or from one of yours',
);
export type DeliverabilityReport = z.infer<typeof DeliverabilityReport>;

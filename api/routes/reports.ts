import type { Usable } from '../../shared/common/faults.ts';
import * as reports from '../../shared/domain/reports/reports.ts';
import {
  ClientTagsReport,
  CountriesReport,
  DeliverabilityReport,
  LatencyReport,
  ReportFilter,
  SendsFilter,
  SendsReport,
} from '../../shared/schemas/reports.ts';
import { resource } from '../endpoint.ts';

const endpoint = resource('Reports');
const common =
  'Messages count for the hour in which they were accepted, with the status that they have now; what happens is in the figures within seconds.';

const report = { scope: 'reports.read', csv: true } as const;

/** The parts that all reports share, except the report by interval. */
const filtered = {
  ...report,
  query: ReportFilter,
  faults: ({ query }: { query: Usable<ReportFilter> }) => reports.faultsOf(query),
} as const;

export default [
  endpoint({
    ...report,
    route: 'GET /v2/reports/sends',
    id: 'getSendsReport',
    summary: 'Count messages by hour, day or month',
    description: `${common} Intervals without a message are there, with zeros.`,
    query: SendsFilter,
    response: SendsReport,
    faults: ({ query }) => reports.faultsOf(query),
    handle: ({ caller, query }) => reports.sends(caller, query),
  }),
  endpoint({
    ...filtered,
    route: 'GET /v2/reports/client-tags',
    id: 'getClientTagsReport',
    summary: 'Count messages by clientTag, most accepted first; the first 1,000',
    description: common,
    response: ClientTagsReport,
    handle: ({ caller, query }) => reports.clientTags(caller, query),
  }),
  endpoint({
    ...filtered,
    route: 'GET /v2/reports/countries',
    id: 'getCountriesReport',
    summary: 'Count text messages by country and carrier, most accepted first',
    description: common,
    response: CountriesReport,
    handle: ({ caller, query }) => reports.countries(caller, query),
  }),
  endpoint({
    ...filtered,
    route: 'GET /v2/reports/latency',
    id: 'getLatencyReport',
    summary: 'See how long messages took to be sent and to be delivered',
    description: `${common} The times are read from histograms, and are within 4 % of the true ones.`,
    response: LatencyReport,
    handle: ({ caller, query }) => reports.latency(caller, query),
  }),
  endpoint({
    ...filtered,
    route: 'GET /v2/reports/email-deliverability',
    id: 'getEmailDeliverabilityReport',
    summary: 'See what became of emails, by recipient domain and by sending domain',
    description: `${common} The first 200 domains of each, most accepted first.`,
    response: DeliverabilityReport,
    handle: ({ caller, query }) => reports.emailDeliverability(caller, query),
  }),
];

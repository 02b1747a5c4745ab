export { backfill } from './reports/backfill.ts';
export { countEvents } from './reports/count-events.ts';
export { purge } from './reports/purge.ts';
export { faultsOf } from './reports/range.ts';
export { clientTags, countries, emailDeliverability, latency, sends } from './reports/read.ts';
export { oldestKept, type Rebuilt, rebuild } from './reports/rebuild.ts';
export { find as spend } from './reports/spend.ts';
export { spendBy, spendTotal } from './reports/spend-rows.ts';

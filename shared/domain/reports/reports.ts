export { backfill } from './backfill.ts';
export { countEvents } from './count-events.ts';
export { purge } from './purge.ts';
export { faultsOf } from './range.ts';
export { clientTags, countries, emailDeliverability, latency, sends } from './read.ts';
export { oldestKept, rebuild } from './rebuild.ts';
export { faultsOf as spendFaultsOf, find as spend, findForOperator as spendForOperator } from './spend.ts';
export { spendBy, spendTotal } from './spend-rows.ts';

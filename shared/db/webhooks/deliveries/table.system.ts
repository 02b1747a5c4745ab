import type { WorkTable } from '../../work/table.system.ts';

export const deliveryTable: WorkTable<never> = {
  name: 'webhook_deliveries',
  prefix: 'delivery',
  waiting: 'pending',
  owner: { column: 'webhook_id', prefix: 'webhook' },
  lanes: null,
  index: 'webhook_deliveries_admission',
  isUntried: 'attempts = 0',
  waitsSince: 'created_at',
  countsAdmission: true,
};

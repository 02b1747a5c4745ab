import { workTable } from '../../work/table.system.ts';
import { deliveries } from './deliveries.ts';

export const deliveryTable = workTable(deliveries, {
  waiting: 'pending',
  owner: 'webhookId',
  index: 'webhook_deliveries_admission',
  untried: { tries: 'attempts', since: ['createdAt'] },
  countsAdmission: true,
});

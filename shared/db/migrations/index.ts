import { workspaces } from './0001_workspaces.ts';
import { email } from './0002_email.ts';
import { events } from './0003_events.ts';
import { webhooks } from './0004_webhooks.ts';
import { callers } from './0005_callers.ts';
import { webhookDelivery } from './0006_webhook_delivery.ts';
import { addressBook } from './0007_address_book.ts';
import type { Migration } from './migration.ts';

/** In order. Each statement may be repeated, since MySQL commits every DDL statement by itself. */
export const migrations: Migration[] = [
  workspaces,
  email,
  events,
  webhooks,
  callers,
  webhookDelivery,
  addressBook,
];

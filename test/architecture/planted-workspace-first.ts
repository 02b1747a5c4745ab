import type { Guarded } from './planted.ts';
import { workspaceFirst } from './workspace-first.ts';

export const plantedWorkspaceFirst: Guarded[] = [
  {
    guarantee: 'every function of shared/db takes workspaceId first',
    rule: workspaceFirst,
    breaches: [
      {
        'shared/db/webhooks.ts':
          'export async function findWebhook(webhookId: string, workspaceId: string) {}',
      },
      { 'shared/db/webhooks.ts': 'export function listWebhooks() {}' },
      { 'shared/db/webhooks.ts': 'export async function listWebhooks({ workspaceId }: Filter) {}' },
      { 'shared/db/webhooks.ts': 'export async function listWebhooks(workspaceIds: string[]) {}' },
      { 'shared/db/webhooks.ts': 'export async function listWebhooks(workspaceId?: string) {}' },
      {
        'shared/db/webhooks.ts':
          'export async function find<T extends Of<() => 1>>(\n  id: string,\n): Promise<T> {}',
      },
      { 'shared/db/webhooks.ts': 'export const findWebhook = async (webhookId: string) => {};' },
      { 'shared/db/webhooks.ts': 'export const findWebhook: (a: string) => void = (webhookId) => {};' },
      { 'shared/db/webhooks.ts': 'export const findWebhook = webhookId => {};' },
      { 'shared/db/webhooks.ts': 'export const findWebhook = async function (webhookId: string) {};' },
      { 'shared/db/webhooks.ts': 'export const insertWebhook = batcher({ run });' },
      {
        'shared/db/webhooks.ts': 'async function find(webhookId: string) {}\nexport { find as findWebhook };',
      },
      { 'shared/db/webhooks.ts': 'export async function updateRow(row: Row) {}' },
      { 'shared/db/webhooks/find.ts': 'export default async function (webhookId: string) {}' },
      { 'shared/db/webhooks.ts': 'export const { find: findWebhook } = statementsOf(webhooks);' },
      { 'shared/db/webhooks.ts': 'export const {\n  find: findWebhook,\n}: Found = ofWebhooks;' },
      { 'shared/db/webhooks.ts': 'const [findWebhook] = statementsOf(webhooks);\nexport { findWebhook };' },
      {
        'shared/db/client/rows.ts':
          'export type Rows<Stored> = {\n  find: (id: string) => Promise<Stored>;\n};',
      },
      { 'shared/db/client/rows.ts': 'export function rowsOf(table: Table) {}' },
    ],
    harmless: {
      'shared/db/webhooks.ts': [
        'export async function findWebhook(workspaceId: string, webhookId: string) {}',
        'export async function listWebhooks<T>(\n  workspaceId: string,\n  limit: number,\n) {}',
        'export const deleteWebhook = async (workspaceId: string) => {};',
        'export function toRecord(row: Row): WebhookRecord {}',
        'export const columns = ["id"];',
        'export type Filter = { status: string };',
        'function bind(value: string) {}',
        'export const {\n  find: findWebhookRow,\n  delete: deleteWebhookRow,\n} = rowsOf(webhooks);',
        'const { columns: others } = webhooks;',
      ].join('\n'),
      'shared/db/client.ts': 'export async function query(sql: string) {}',
      'shared/db/client/rows.ts':
        'export type Rows<Stored> = {\n  find: (workspaceId: string, id: string) => Promise<Stored>;\n};',
      'shared/db/client/migrate.ts': 'export async function migrateUp() {}',
      'shared/db/migrations/migration.ts': 'export function statements(sql: string) {}',
      'shared/db/webhooks.system.ts': 'export async function listDue(limit: number) {}',
    },
  },
];

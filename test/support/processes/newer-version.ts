import fs from 'node:fs';
import path from 'node:path';
import { query } from '../../../shared/db/client.ts';
import { atEnd } from '../runner/at-end.ts';
import { numberedFolder } from '../runner/numbered-folder.ts';

const root = path.join(import.meta.dirname, '../../..');
const parts = ['api', 'workers', 'shared', 'scripts', 'package.json', 'Procfile'];

/** A change of the next version: in `file`, the text `to` in place of `from`. */
type Change = { file: string; from: string; to: string };

export const newMigration = '9999_campaigns';

/** A usual release: nullable columns, indexes, a table. It removes nothing that older code needs. */
const migration = `import { type Migration, tableOptions } from './migration.ts';

export const campaigns: Migration = {
  name: '${newMigration}',
  up: [
    'ALTER TABLE emails ADD COLUMN campaign_id BINARY(16) NULL',
    'ALTER TABLE emails ADD KEY emails_by_campaign (workspace_id, campaign_id, id)',
    'ALTER TABLE webhook_deliveries ADD COLUMN campaign_id BINARY(16) NULL',
    \`CREATE TABLE IF NOT EXISTS campaigns (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARCHAR(100) NOT NULL,
      KEY campaigns_listed (workspace_id, id)
    ) \${tableOptions}\`,
  ],
  down: [],
};
`;

/** Removes the new version's tables and columns from the database, also if its migration is not complete. */
export async function revertMigration(): Promise<void> {
  await query('DROP TABLE IF EXISTS campaigns');
  for (const change of [
    'ALTER TABLE webhook_deliveries DROP COLUMN campaign_id',
    'ALTER TABLE emails DROP KEY emails_by_campaign',
    'ALTER TABLE emails DROP COLUMN campaign_id',
  ])
    await query(change).catch((error: unknown) => {
      if ((error as { errno?: number }).errno !== 1091) throw error;
    });
}

const migrationList = 'shared/db/migrations/index.ts';
const changes: Change[] = [
  {
    file: migrationList,
    from: "import type { Migration } from './migration.ts';",
    to: `import { campaigns } from './${newMigration}.ts';\nimport type { Migration } from './migration.ts';`,
  },
  { file: migrationList, from: '\n];', to: '\n  campaigns,\n];' },
  // The new version's jobs carry a field that the older version does not know.
  {
    file: 'shared/domain/email/admission/admission.ts',
    from: '({ emailId: id, workspaceId, ...(lane && { kind: lane }) }),',
    to: "({ emailId: id, workspaceId, ...(lane && { kind: lane }), ...{ campaign: { name: 'spring' } } }),",
  },
];

/** Makes a next version of the platform in a folder: this tree with one more migration, and a new field in jobs. */
export function makeNewerVersion(): string {
  const folder = numberedFolder('newer-version');
  atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const part of parts) fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  fs.writeFileSync(path.join(folder, `shared/db/migrations/${newMigration}.ts`), migration);
  for (const { file, from, to } of changes) {
    const name = path.join(folder, file);
    const text = fs.readFileSync(name, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} no longer says "${from}"`);
    fs.writeFileSync(name, text.replace(from, to));
  }
  return folder;
}

import type { IdPrefix } from '../../formats/ids.ts';
import { binaryText, id, int, json, text, time } from './columns.ts';
import { type Length, listLengths, type Page } from './listing.ts';
import { countRows, deleteRow, findRow, insertRow, listRowsByIds, updateRow } from './rows.ts';
import { type Columns, type RecordOf, type Table, table } from './table.ts';

/** The fields that templates of every kind have. */
const commonColumns = (idPrefix: IdPrefix) => ({
  id: id(idPrefix),
  name: binaryText(),
  description: text().nullable(),
  sampleData: json<Record<string, unknown>>().nullable(),
  /** Rises with every change. `updatedAt` may not: two changes may come within a millisecond. */
  version: int(),
  createdAt: time(),
  updatedAt: time(),
});
type CommonColumns = ReturnType<typeof commonColumns>;
type CommonTable = Table<CommonColumns>;
export type TemplateRecord = RecordOf<CommonTable>;

/** The rows of templates of one kind. */
export type TemplateTable<Template extends TemplateRecord> = {
  insert: (workspaceId: string, record: Template) => Promise<void>;
  find: (workspaceId: string, id: string) => Promise<Template | null>;
  findByName: (workspaceId: string, name: string) => Promise<Template | null>;
  /** Locked until the transaction ends. */
  findForUpdate: (workspaceId: string, id: string) => Promise<Template | null>;
  /** How many templates the workspace has. */
  findCount: (workspaceId: string) => Promise<number>;
  /** Newest first. `length`: the bytes of the source texts of a template. */
  listLengths: (workspaceId: string, page: Page) => Promise<Length[]>;
  /** Newest first. */
  listByIds: (workspaceId: string, ids: string[]) => Promise<Template[]>;
  /** Writes all fields but id and createdAt. The record must have been locked in this transaction. */
  update: (workspaceId: string, record: Template) => Promise<void>;
  delete: (workspaceId: string, id: string) => Promise<boolean>;
};

/** A template of the kind that a table holds. */
export type TemplateOf<Kind> = Kind extends TemplateTable<infer Template> ? Template : never;

/**
 * Makes the statements for one kind. `sources`: the columns that only this kind has; `texts`: the columns of long
 * texts.
 */
export function templateTable<Sources extends Columns>({
  table: name,
  idPrefix,
  sources,
  texts,
}: {
  table: string;
  idPrefix: IdPrefix;
  sources: Sources;
  texts: readonly (keyof Sources & string)[];
}): TemplateTable<RecordOf<{ fields: CommonColumns & Sources }>> {
  // The statements do not depend on the columns of one kind, so the type here has only the common ones.
  const templates = table(name, { ...commonColumns(idPrefix), ...sources }) as unknown as CommonTable;
  const changing = templates.omit('id', 'createdAt');

  const statements: TemplateTable<TemplateRecord> = {
    insert: (workspaceId, record) => insertRow(workspaceId, templates, record),
    find: (workspaceId, id) => findRow(workspaceId, templates, { id }),
    findByName: (workspaceId, name) => findRow(workspaceId, templates, { name }),
    findForUpdate: (workspaceId, id) => findRow(workspaceId, templates, { id }, 'FOR UPDATE'),
    findCount: (workspaceId) => countRows(workspaceId, templates),
    listLengths: (workspaceId, page) => listLengths(workspaceId, templates, texts, page),
    listByIds: (workspaceId, ids) => listRowsByIds(workspaceId, templates, ids),
    update: (workspaceId, record) => updateRow(workspaceId, changing, record),
    delete: (workspaceId, id) => deleteRow(workspaceId, templates, { id }),
  };
  return statements as unknown as TemplateTable<RecordOf<{ fields: CommonColumns & Sources }>>;
}

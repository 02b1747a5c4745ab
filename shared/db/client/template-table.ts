import type { IdPrefix } from '../../formats/ids.ts';
import { binaryText, id, int, json, text, time } from './columns.ts';
import { type Length, listLengths, type Page } from './listing.ts';
import { findRow, type Rows, rowsOf } from './rows.ts';
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

/**
 * The rows of templates of one kind. An update writes all fields but id and createdAt; the record must have been locked
 * in its transaction.
 */
export type TemplateTable<Template extends TemplateRecord> = Rows<Template> & {
  findByName: (workspaceId: string, name: string) => Promise<Template | null>;
  /** Newest first. `length`: the bytes of the source texts of a template. */
  listLengths: (workspaceId: string, page: Page) => Promise<Length[]>;
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

  const statements: TemplateTable<TemplateRecord> = {
    ...rowsOf(templates, templates.omit('id', 'createdAt')),
    findByName: (workspaceId, name) => findRow(workspaceId, templates, { name }),
    listLengths: (workspaceId, page) => listLengths(workspaceId, templates, texts, page),
  };
  return statements as unknown as TemplateTable<RecordOf<{ fields: CommonColumns & Sources }>>;
}

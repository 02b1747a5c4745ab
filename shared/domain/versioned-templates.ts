import { now } from '../common/clock.ts';
import { type FieldErrors, orNotFound, problem } from '../common/errors.ts';
import { throwAny, type Usable } from '../common/faults.ts';
import type { TemplateRecord, TemplateTable } from '../db/client/template-table.ts';
import { findWorkspaceForUpdate } from '../db/workspace/workspaces.ts';
import { type IdPrefix, newId } from '../formats/ids.ts';
import type { PageQuery } from '../schemas/fields.ts';
import type { Caller } from '../schemas/scopes.ts';
import { type CursorPage, mapPage } from './requests/keyset-pages.ts';
import { pageOfLong } from './requests/long-pages.ts';
import { orTaken, refuseOneMore } from './requests/refusals.ts';
import { changedMeanwhile } from './template-faults.ts';

/** The fields that a request may give of a template of any kind. */
type TemplateFields = {
  name?: string | null | undefined;
  description?: string | null | undefined;
  sampleData?: Record<string, unknown> | null | undefined;
};
type NewTemplate = TemplateFields & { name: string };

/** The fields of a template that only one kind has. */
type Source<Template> = Omit<Template, keyof TemplateRecord>;

/** A kind of templates, with the settings and functions that differ by kind. */
type TemplateKind<Template extends TemplateRecord, New extends NewTemplate, Wire> = {
  rows: TemplateTable<Template>;
  idPrefix: IdPrefix;
  /** The name of the kind's listing in cursors. */
  listing: string;
  /** As in "a workspace has at most 1000 SMS templates". */
  plural: string;
  most: number;
  sourceOf: (request: New) => Source<Template>;
  /** The fields of the source; one that a change leaves out or sets to null stays. */
  sourceFields: readonly (keyof Source<Template> & string)[];
  /** The fields whose change moves `updatedAt`. */
  datedFields: readonly (keyof Template)[];
  faultsOf: (caller: Caller, record: Template, at: Date) => Promise<FieldErrors>;
  toWire: (record: Template) => Wire;
  /** Stores which records the source uses, in the transaction that stores the source, with the workspace locked. */
  uses?: {
    keep: (workspaceId: string, record: Template) => Promise<void>;
    remove: (workspaceId: string, id: string) => Promise<void>;
  };
};

/** The changed record, once it has been checked, and the version that it is made from. */
type TemplateChange<Template> = { record: Template; from: number };

/** Makes the operations of a kind of templates. A source is checked outside of a transaction, then stored in one. */
export function versionedTemplates<
  Template extends TemplateRecord,
  New extends NewTemplate,
  Changes extends TemplateFields,
  Wire,
>(kind: TemplateKind<Template, New, Wire>) {
  const { rows, uses, toWire } = kind;

  async function check(caller: Caller, record: Template, at: Date): Promise<void> {
    throwAny(await kind.faultsOf(caller, record, at));
  }

  async function prepareNew(caller: Caller, request: New): Promise<Template> {
    const at = now();
    const common: TemplateRecord = {
      id: newId(kind.idPrefix, at),
      name: request.name,
      description: request.description || null,
      sampleData: request.sampleData ?? null,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    const record = { ...common, ...kind.sourceOf(request) } as Template;
    await check(caller, record, at);
    return record;
  }

  async function create({ workspaceId }: Caller, record: Template): Promise<Wire> {
    // Lock the workspace, so that two requests at once cannot both make the last template that it may have.
    await findWorkspaceForUpdate(workspaceId);
    refuseOneMore(await rows.findCount(workspaceId), kind.most, kind.plural);
    await orTaken(rows.insert(workspaceId, record), 'name_taken');
    await uses?.keep(workspaceId, record);
    return toWire(record);
  }

  async function findRecord({ workspaceId }: Caller, id: string): Promise<Template> {
    return orNotFound(await rows.find(workspaceId, id));
  }

  async function prepareChange(
    caller: Caller,
    id: string,
    changes: Changes,
  ): Promise<TemplateChange<Template>> {
    const before = await findRecord(caller, id);
    const { record, isSource, isOther } = changed(before, changes);
    if (isSource) await check(caller, record, now());
    return { record: isOther ? record : before, from: before.version };
  }

  async function change({ workspaceId }: Caller, { record, from }: TemplateChange<Template>): Promise<Wire> {
    if (uses) await findWorkspaceForUpdate(workspaceId);
    const before = orNotFound(await rows.findForUpdate(workspaceId, record.id));
    if (before.version !== from) throw changedMeanwhile();
    if (record.version === from) return toWire(before);
    await orTaken(rows.update(workspaceId, record), 'name_taken');
    await uses?.keep(workspaceId, record);
    return toWire(record);
  }

  /** A field that is left out or null stays; an empty description clears. */
  function changed(before: Template, changes: Changes | Usable<Changes>) {
    const given = changes as Partial<Template>;
    const at = now();
    const fields = (['name', 'sampleData', ...kind.sourceFields] as const).filter(
      (field) => given[field] != null,
    );
    const after: Template = {
      ...before,
      ...Object.fromEntries(fields.map((field) => [field, given[field]])),
      version: before.version + 1,
    };
    if (given.description != null) after.description = given.description || null;
    const isChanged = (fields: readonly (keyof Template)[]) =>
      fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
    // This time never goes back, whatever the clocks of the machines say.
    if (isChanged(kind.datedFields) && at > before.updatedAt) after.updatedAt = at;
    const isSource = isChanged([...kind.sourceFields, 'sampleData']);
    return { record: after, isSource, isOther: isSource || isChanged(['name', 'description']) };
  }

  async function find(caller: Caller, id: string): Promise<Wire> {
    return toWire(await findRecord(caller, id));
  }

  async function list({ workspaceId }: Caller, page: PageQuery): Promise<CursorPage<Wire>> {
    const binding = { workspaceId, listing: kind.listing };
    return mapPage(
      pageOfLong(binding, page, (range) => rows.listLengths(workspaceId, range)),
      async (ids) => (await rows.listByIds(workspaceId, ids)).map(toWire),
    );
  }

  async function remove({ workspaceId }: Caller, id: string): Promise<void> {
    if (uses) await findWorkspaceForUpdate(workspaceId);
    if (!(await rows.delete(workspaceId, id))) throw problem('not_found');
    await uses?.remove(workspaceId, id);
  }

  return { prepareNew, create, findRecord, prepareChange, change, changed, find, list, remove };
}

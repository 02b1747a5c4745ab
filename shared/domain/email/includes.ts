import { now } from '../../common/clock.ts';
import { type FieldErrors, invalid, orNotFound, problem } from '../../common/errors.ts';
import type { Usable } from '../../common/faults.ts';
import * as uses from '../../db/email/include-uses.ts';
import * as db from '../../db/email/includes.ts';
import { emailTemplates } from '../../db/email/templates.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import {
  deepestIncludes,
  type Expanded,
  expand,
  includeNames,
  mostRead,
  type SourceFault,
  tooLarge,
} from '../../formats/templates/mjml-includes.ts';
import { EmailInclude, type EmailIncludeContent, mostEmailIncludes } from '../../schemas/email/includes.ts';
import type { PageQuery } from '../../schemas/fields.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { type CursorPage, mapPage } from '../requests/keyset-pages.ts';
import { pageOfLong } from '../requests/long-pages.ts';
import { refuseOneMore } from '../requests/refusals.ts';
import { wireOf } from '../requests/wire.ts';
import { sentence } from '../template-faults.ts';

/** Pieces of MJML that a workspace's templates share. */

/** Returns MJML with the workspace's includes in their places. `within`: the include whose content `source` is. */
export async function expandIncludes(
  workspaceId: string,
  source: string,
  within: string | null = null,
): Promise<Expanded | { fault: SourceFault }> {
  const contents = new Map<string, string>();
  let read = source.length;
  if (read > mostRead) return { fault: tooLarge(null) };
  let names = includeNames(source);
  // Read one level after the other, and one more than is allowed, so that nesting that is too deep is noticed.
  for (let level = 0; names.length > 0 && level <= deepestIncludes; level += 1) {
    // Check the length before reading: a workspace may have far more than one source may hold.
    read += await db.findEmailIncludesLength(workspaceId, names);
    if (read > mostRead) return { fault: tooLarge(null) };
    const found = await db.listEmailIncludesByNames(workspaceId, names);
    for (const { name, content } of found) contents.set(name, content);
    const following = new Set(found.flatMap(({ content }) => includeNames(content)));
    names = [...following].filter((name) => !contents.has(name));
  }
  return expand(source, (name) => contents.get(name), within === null ? [] : [within]);
}

/**
 * Creates or replaces an include. Call it in a transaction, like every function that changes which include contains
 * which.
 */
export async function save(
  { workspaceId }: Caller,
  name: string,
  { content }: EmailIncludeContent,
): Promise<{ include: EmailInclude; isNew: boolean }> {
  // Lock the workspace, so that two requests at once cannot together close a cycle or pass the cap.
  await findWorkspaceForUpdate(workspaceId);
  const fault = await faultOf(workspaceId, name, content);
  if (fault !== null) throw invalid('content', fault);
  const existing = await db.findEmailInclude(workspaceId, name);
  const at = now();
  const record: db.EmailIncludeRecord = {
    id: existing?.id ?? newId('include', at),
    name,
    content,
    createdAt: existing?.createdAt ?? at,
    updatedAt: existing?.content === content ? existing.updatedAt : at,
  };
  if (existing) await db.updateEmailInclude(workspaceId, record);
  else {
    refuseOneMore((await db.listEmailIncludeNames(workspaceId)).size, mostEmailIncludes, 'includes');
    await db.insertEmailInclude(workspaceId, record);
  }
  await uses.insertIncludeUses(workspaceId, { kind: 'include', id: record.id }, includeNames(content));
  return { include: toWire(record), isNew: existing === null };
}

/** Returns the faults for which `save` would refuse a request. Skips a name or fields of the wrong shape. */
export async function faultsOfSave(
  { workspaceId }: Caller,
  name: string | undefined,
  body: Usable<EmailIncludeContent> | undefined,
): Promise<FieldErrors> {
  const fault = body?.content === undefined ? null : await faultOf(workspaceId, name ?? null, body.content);
  return fault === null ? {} : { content: [fault] };
}

/** Returns the fault of the content. Without a name, the includes and templates that would contain it are unknown. */
async function faultOf(workspaceId: string, name: string | null, content: string): Promise<string | null> {
  const expanded = await expandIncludes(workspaceId, content, name);
  if ('fault' in expanded) return refusalOf(expanded.fault, name);
  if (name === null) return null;
  const graph = await includesBy(workspaceId);
  graph.set(name, includeNames(content));
  return levelsBelow(reversed(graph), name) + levelsBelow(graph, name) + 1 > deepestIncludes
    ? `would nest includes more than ${deepestIncludes} levels deep`
    : null;
}

function refusalOf({ message, include, line, column }: SourceFault, name: string | null): string {
  const place =
    line === undefined ? '' : ` (line ${line}, column ${column}${include === name ? '' : ` of ${include}`})`;
  return sentence({ message: message + place });
}

export async function find({ workspaceId }: Caller, name: string): Promise<EmailInclude> {
  const record = orNotFound(await db.findEmailInclude(workspaceId, name));
  return toWire(record);
}

export async function list({ workspaceId }: Caller, page: PageQuery): Promise<CursorPage<EmailInclude>> {
  const binding = { workspaceId, listing: 'email-includes' };
  return mapPage(
    pageOfLong(binding, page, (range) => db.listEmailIncludeLengths(workspaceId, range)),
    async (ids) => (await db.listEmailIncludesByIds(workspaceId, ids)).map(toWire),
  );
}

export async function remove({ workspaceId }: Caller, name: string): Promise<void> {
  await findWorkspaceForUpdate(workspaceId);
  const record = orNotFound(await db.findEmailInclude(workspaceId, name));
  const through = includersOf(await includesBy(workspaceId), name);
  const templateId = await uses.findTemplateUsing(workspaceId, [name, ...through]);
  if (templateId !== null) {
    const template = await emailTemplates.find(workspaceId, templateId);
    throw problem('in_use', {
      detail: `The template ${template?.name ?? templateId} uses this include, directly or through another include. Change or delete the template first`,
    });
  }
  await uses.deleteIncludeUses(workspaceId, record.id);
  await db.deleteEmailInclude(workspaceId, record.id);
}

type Graph = Map<string, string[]>;

/** Returns the names in the content of each include that has any. */
async function includesBy(workspaceId: string): Promise<Graph> {
  const names = await db.listEmailIncludeNames(workspaceId);
  const graph: Graph = new Map();
  for (const { name, user } of await uses.listUsesByIncludes(workspaceId)) {
    const by = names.get(user.id);
    if (by !== undefined) graph.set(by, [...(graph.get(by) ?? []), name]);
  }
  return graph;
}

/** Returns the includes that contain this one, directly or through others. */
function includersOf(graph: Graph, name: string): Set<string> {
  const found = new Set<string>();
  let latest = [name];
  while (latest.length > 0) {
    latest = [...graph]
      .filter(([by, names]) => !found.has(by) && names.some((one) => latest.includes(one)))
      .map(([by]) => by);
    for (const by of latest) found.add(by);
  }
  return found;
}

// The graph has no cycle: stored includes have none, and the new content was expanded before.
function levelsBelow(graph: Graph, name: string, known = new Map<string, number>()): number {
  let levels = known.get(name);
  if (levels === undefined) {
    levels = 0;
    for (const one of graph.get(name) ?? []) levels = Math.max(levels, 1 + levelsBelow(graph, one, known));
    known.set(name, levels);
  }
  return levels;
}

function reversed(graph: Graph): Graph {
  const pairs = [...graph].flatMap(([by, names]) => names.map((name) => ({ by, name })));
  return new Map(
    [...Map.groupBy(pairs, ({ name }) => name)].map(([name, found]) => [name, found.map(({ by }) => by)]),
  );
}

function toWire(record: db.EmailIncludeRecord): EmailInclude {
  return wireOf(EmailInclude, record);
}

import { z } from 'zod';
import { type Measured, nearest } from '../shared/formats/edit-distance.ts';

/** The field names that an object of a body may have; `null` where no object with named fields is below. */
type KnownLevel = { members: Map<string, KnownLevel | null> } | { items: KnownLevel };
/** `known`: the fields that a body may have. `ofRecord`: the names of the fields of the operation's record. */
export type KnownFields = { known: KnownLevel | null; ofRecord: ReadonlySet<string> };

export function knownFieldsOf(body: z.ZodType | undefined, response: z.ZodType | undefined): KnownFields {
  const ofRecord = new Set<string>();
  if (response) addNames(response, false, ofRecord);
  return { known: body ? knownOf(body) : null, ofRecord };
}

function knownOf(schema: z.core.$ZodType): KnownLevel | null {
  if (schema instanceof z.ZodObject)
    return {
      members: new Map(Object.entries(schema.shape).map(([name, field]) => [name, knownOf(field)])),
    };
  if (schema instanceof z.ZodArray) {
    const items = knownOf(schema.def.element);
    return items && { items };
  }
  const inner = innerOf(schema);
  return inner && knownOf(inner);
}

/** Adds the names of the fields of records. A record has an id; all fields within a record belong to it. */
function addNames(schema: z.core.$ZodType, isInRecord: boolean, names: Set<string>): void {
  if (schema instanceof z.ZodObject) {
    const isOfRecord = isInRecord || 'id' in schema.shape;
    for (const [name, field] of Object.entries(schema.shape)) {
      if (isOfRecord) names.add(name);
      addNames(field, isOfRecord, names);
    }
  } else if (schema instanceof z.ZodArray) addNames(schema.def.element, isInRecord, names);
  else {
    const inner = innerOf(schema);
    if (inner) addNames(inner, isInRecord, names);
  }
}

/** The schema within an optional, nullable or default one, or the one that a transformation begins with. */
export function innerOf(schema: z.core.$ZodType): z.core.$ZodType | null {
  if (schema instanceof z.ZodPipe) return schema.def.in;
  const {
    _zod: { def },
  } = schema;
  return 'innerType' in def ? (def.innerType as z.core.$ZodType) : null;
}

/** Whether a body has unknown fields. Most bodies have none, so they need only this quick check. */
export function hasUnknown(known: KnownLevel | null, value: unknown): boolean {
  if (known === null || typeof value !== 'object' || value === null) return false;
  if ('items' in known)
    return Array.isArray(value) && value.some((item: unknown) => hasUnknown(known.items, item));
  if (Array.isArray(value)) return false;
  for (const name in value) {
    const below = known.members.get(name);
    if (below === undefined) return true;
    if (below !== null && hasUnknown(below, (value as Record<string, unknown>)[name])) return true;
  }
  return false;
}

type Misnamed = { path: PropertyKey[]; meant: string };

const shortestName = 5;
const mostEdits = 2;
// A longer name is not a mistyped one, and a name may be as long as the body.
const longestName = 256;
/** More different unknown names are not typing mistakes, and comparing all of them would take long. */
const mostCompared = 200;

/**
 * Returns unknown fields that nearly have the name of a known one (API decisions §1): a mistyped field would change
 * what is done.
 */
export function misnamedIn({ known, ofRecord }: KnownFields, body: unknown): Misnamed[] {
  const misnamed: Misnamed[] = [];
  const compared = new Map<KnownLevel, Map<string, string | null>>();
  let count = 0;

  function checkAt(below: KnownLevel | null, value: unknown, path: PropertyKey[]): void {
    if (below === null || typeof value !== 'object' || value === null) return;
    if ('items' in below) {
      if (Array.isArray(value)) value.forEach((item, index) => checkAt(below.items, item, [...path, index]));
      return;
    }
    if (Array.isArray(value)) return;
    for (const [name, member] of Object.entries(value)) {
      const deeper = below.members.get(name);
      if (deeper !== undefined) checkAt(deeper, member, [...path, name]);
      else {
        const meant = ofRecord.has(name) ? null : meantBy(below, name);
        if (meant !== null) misnamed.push({ path: [...path, name], meant });
      }
    }
  }

  function meantBy(level: Extract<KnownLevel, { members: unknown }>, name: string): string | null {
    const answers = compared.get(level) ?? new Map<string, string | null>();
    compared.set(level, answers);
    let meant = answers.get(name);
    if (meant === undefined) {
      count += 1;
      meant = count > mostCompared ? null : nearlyNamed(name, [...level.members.keys()]);
      answers.set(name, meant);
    }
    return meant;
  }

  checkAt(known, body, []);
  return misnamed;
}

/**
 * Returns the known name that differs only in case, `_` or `-`; or in at most two edits, if the name has five letters
 * or more.
 */
function nearlyNamed(name: string, known: readonly string[]): string | null {
  if (name.length > longestName) return null;
  const plainName = plain(name);
  const same = known.find((one) => plain(one) === plainName);
  if (same !== undefined) return same;
  if (name.length < shortestName) return null;
  const [closest] = nearest(name, known, mostEdits) as [Measured?];
  return closest?.text ?? null;
}

const plain = (text: string): string => text.replaceAll(/[_-]/g, '').toLowerCase();

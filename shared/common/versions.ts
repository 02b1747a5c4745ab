/**
 * Versions of the API, oldest first: the date on which the shapes were fixed, and the changes of that version. A new
 * version adds its line here, and functions beside its `changes` that turn the shapes of the previous version into the
 * new ones and back. All code inside works with the newest shapes.
 */
const versions = {
  '2026-11-01': { changes: 'The first version.' },
} as const;

export type Version = keyof typeof versions;

export const knownVersions = Object.keys(versions) as [Version, ...Version[]];
export const currentVersion: Version = knownVersions.at(-1)!;

export function isKnownVersion(value: unknown): value is Version {
  return typeof value === 'string' && Object.hasOwn(versions, value);
}

/** The changes of a version, for its readers. */
export function changesIn(version: Version): string {
  return versions[version].changes;
}

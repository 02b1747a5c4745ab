/**
 * Versions of the API, oldest first: the date on which the shapes were fixed, and what changed then. A second one adds
 * its line here, and beside its `changes` the functions that turn the shapes of the version before it into its own and
 * back; everything inside works with the newest.
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

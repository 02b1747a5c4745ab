/** Versions of the API, oldest first. A version is the date on which its shapes were fixed. */
export const knownVersions = ['2026-11-01'] as const;
export type Version = (typeof knownVersions)[number];

export const currentVersion: Version = '2026-11-01';

export function isKnownVersion(value: unknown): value is Version {
  return (knownVersions as readonly unknown[]).includes(value);
}

import { randomBytes } from 'node:crypto';

/** The database that MYSQL_URL names; it is the prefix of the names of ours, so a grant on `name%` suffices. */
export function serverDatabaseName(url: URL): string {
  return decodeURIComponent(url.pathname.slice(1)) || 'messaging';
}

/** Stands in the names of all databases of one run, in whatever process they are made. */
export function runId(): string {
  return (process.env['TEST_RUN'] ??= randomBytes(3).toString('hex'));
}

/** A name that no other file or run has, and that tells when it was made. */
export function newDatabaseName(prefix: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  return `${prefix}_test_${seconds.toString(36)}_${runId()}${randomBytes(3).toString('hex')}`;
}

const ours = /^(.+)_test_([0-9a-z]{6,8})_([0-9a-f]{6})[0-9a-f]{6}$/;

/** When a database of the tests was made, or undefined for a name that is not ours to drop. */
export function databaseBirth(name: string): { prefix: string; epochMs: number; run: string } | undefined {
  const match = ours.exec(name);
  if (!match?.[1] || !match[2] || !match[3]) return undefined;
  return { prefix: match[1], epochMs: Number.parseInt(match[2], 36) * 1000, run: match[3] };
}

import { randomBytes } from 'node:crypto';

/** Returns the database that MYSQL_URL names. Our databases have it as their prefix, so a grant on `name%` suffices. */
export function serverDatabaseName(url: URL): string {
  return decodeURIComponent(url.pathname.slice(1)) || 'messaging';
}

/** Returns the id of this run, which is in the names of all its databases, whichever process creates them. */
export function runId(): string {
  return (process.env['TEST_RUN'] ??= randomBytes(3).toString('hex'));
}

/** Returns a name that no other file or run has, and that contains the time of its making. */
export function newDatabaseName(prefix: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  return `${prefix}_test_${seconds.toString(36)}_${runId()}${randomBytes(3).toString('hex')}`;
}

const ours = /^(.+)_test_([0-9a-z]{6,8})_([0-9a-f]{6})[0-9a-f]{6}$/;

/** Returns when a database of the tests was made, or undefined for a name that is not ours to drop. */
export function databaseBirth(name: string): { prefix: string; epochMs: number; run: string } | undefined {
  const match = ours.exec(name);
  if (!match?.[1] || !match[2] || !match[3]) return undefined;
  return { prefix: match[1], epochMs: Number.parseInt(match[2], 36) * 1000, run: match[3] };
}

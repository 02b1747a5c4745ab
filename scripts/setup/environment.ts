import path from 'node:path';

/** The environment as given, blank values left out. Settings of the product itself are shared/config.ts's. */
export const given: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([, value]) => value),
);

export const checkout = path.resolve(import.meta.dirname, '../..');

/** What a run keeps: data of the private servers, secrets, logs. */
export const localDir = path.resolve(given['LOCAL_DIR'] ?? path.join(checkout, '.local'));

/** For modules that are loaded after this call and read the environment themselves. */
export function fillIn(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) if (!given[name]) process.env[name] = value;
}

import path from 'node:path';

/** The environment as given, blank values left out. Settings of the product itself are shared/config/config.ts's. */
export const given: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([, value]) => value),
);

export const checkout = path.resolve(import.meta.dirname, '../..');

/** The folder of all that a run keeps: data of the private servers, secrets, logs. */
export const localDir = path.resolve(given['LOCAL_DIR'] ?? path.join(checkout, '.local'));

/** Whether there is one to work on, as local-environment.ts found it for the commands that want one. */
export const platform = { isMissing: false };

/** Ends a command that has no platform to work on. Help, and mistakes in the arguments, come before. */
export function needPlatform(): void {
  if (!platform.isMissing) return;
  process.stderr.write(
    `No platform is running with ${localDir}. Run scripts/start first, or set MYSQL_URL.\n`,
  );
  process.exit(1);
}

/** For modules that are loaded after this call and read the environment themselves. */
export function fillIn(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) if (!given[name]) process.env[name] = value;
}

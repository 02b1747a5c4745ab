import path from 'node:path';

/** The environment without blank values. shared/config/config.ts reads the settings of the product itself. */
export const given: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([, value]) => value),
);

export const checkout = path.resolve(import.meta.dirname, '../..');

/** The folder of all that a run keeps: data of the private servers, secrets, logs. */
export const localDir = path.resolve(given['LOCAL_DIR'] ?? path.join(checkout, '.local'));

/** Whether a platform to work on is missing; local-environment.ts sets this for the commands that need one. */
export const platform = { isMissing: false };

/** Ends a command that has no platform to work on. Runs after help and mistakes in the arguments. */
export function needPlatform(): void {
  if (!platform.isMissing) return;
  process.stderr.write(
    `No platform is running with ${localDir}. Run scripts/start first, or set MYSQL_URL.\n`,
  );
  process.exit(1);
}

/** Sets missing values of the environment, for modules that are loaded after this call and read it themselves. */
export function fillIn(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) if (!given[name]) process.env[name] = value;
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Settings } from './processes.ts';

const program = path.join(import.meta.dirname, '../../support/time/wrong-clock.mjs');

/** Returns settings with which the wall clock of a process is ahead by `offsetMs`. */
export function wrongClock(settings: Settings, offsetMs: number): Settings {
  if (!existsSync(program)) throw new Error(`${program} is missing`);
  return {
    ...settings,
    NODE_OPTIONS: `--import=${pathToFileURL(program).href}`,
    CLOCK_OFFSET_MS: String(offsetMs),
  };
}

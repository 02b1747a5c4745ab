import { config } from '../../../shared/config/config.ts';
import { atEnd } from '../runner/at-end.ts';

type Name = keyof typeof config;
type Value = string | number | boolean | readonly (string | number)[] | undefined;

/**
 * Changes settings for whatever reads them from now on, here and in processes started later. Code that took a setting
 * when it was imported keeps it: for such a one use `vi.hoisted(() => …)` above the imports.
 */
export function changeSettings(changes: Partial<typeof config>): void {
  for (const [name, value] of Object.entries(changes) as [Name, Value][]) {
    const [setting, variable] = [config[name], process.env[name]];
    atEnd(() => {
      Object.assign(config, { [name]: setting });
      if (variable === undefined) delete process.env[name];
      else process.env[name] = variable;
    });
    Object.assign(config, { [name]: value });
    // A blank variable is one that is not set.
    process.env[name] = value === undefined ? '' : String(value);
  }
}

import { config } from '../../../shared/config/config.ts';
import { atEnd } from '../runner/at-end.ts';

type Name = keyof typeof config;
type Value = string | number | boolean | readonly (string | number)[] | undefined;

/**
 * Changes settings for all code that reads them from now on, here and in processes started later. Code that reads a
 * setting on import keeps the old value: for such a setting use `vi.hoisted(() => …)` above the imports.
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
    // A blank variable counts as not set.
    process.env[name] = value === undefined ? '' : String(value);
  }
}

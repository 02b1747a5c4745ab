import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lines } from '../../scripts/benches/lines/index.ts';
import { options as optionsOfBench } from '../../scripts/benches/options.ts';
import { commandLine } from '../../scripts/setup/admin/admin.ts';
import { settingNames } from '../../shared/config/config.ts';
import { options as optionsOfStorm } from '../faults/storm/options.ts';
import { options as optionsOfFuzz } from '../fuzz/options.ts';

/*
 * The commands print their help in sh, because Node may not be installed yet. This test takes the facts from the
 * programs behind the commands.
 */
const helpOf = (name: string) =>
  execFileSync(join(import.meta.dirname, '../../scripts', name), ['--help'], { encoding: 'utf8' });

/** Returns lines of two columns: `  name of it   what it is`. */
const table = (rows: readonly (readonly [string, string])[]) => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}\n`).join('');
};
const optionsIn = (help: string) =>
  new Set([...help.matchAll(/--([a-zA-Z][a-zA-Z-]*)/g)].map(([, name]) => name));

test('scripts/admin tells of each command and of what is in it', () => {
  const groups = commandLine(process).commands.map((group) => {
    const within = group.commands.map((command) => command.name()).join('|');
    return [`${group.name()} ${within}`, group.description().split(';')[0]!] as const;
  });
  expect(helpOf('admin')).toContain(`\n\n${table(groups)}\n`);
});

test('scripts/bench tells of each line and each option', () => {
  const help = helpOf('bench');
  expect(help).toContain(`\n\n${table(lines.map(({ name, title }) => [name, title]))}\n`);
  expect(optionsIn(help)).toEqual(new Set(Object.keys(optionsOfBench)));
});

test('scripts/test tells of each option of the long runs', () => {
  const { profile: _, ...named } = optionsOfStorm;
  const ofTests = ['all', 'changed', 'testNamePattern', 'seed', 'mysql', 'long'];
  expect(optionsIn(helpOf('test'))).toEqual(
    new Set([...Object.keys(named), ...Object.keys(optionsOfFuzz), ...ofTests]),
  );
});

test('scripts/start tells of settings that there are', () => {
  const named = [...helpOf('start').matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => name !== 'LOCAL_DIR' && !settingNames.includes(name))).toEqual([]);
});

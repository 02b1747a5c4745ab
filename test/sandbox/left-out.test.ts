import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('packages that are left out of the sandbox are there and empty, and others are whole', () => {
  const program = `
    import { createRequire } from 'node:module';
    import { leaveOut } from '${join(import.meta.dirname, '../../shared/sandbox/left-out.ts')}';
    leaveOut();
    const require = createRequire('${import.meta.filename}');
    const names = ['undici', 'htmlnano', 'js-beautify', 'liquidjs'];
    console.log(JSON.stringify(names.map((name) => 'isLeftOut' in require(name))));
  `;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(JSON.parse(said)).toEqual([true, true, true, false]);
});

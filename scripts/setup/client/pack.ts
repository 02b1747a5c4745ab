import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { product } from '../../../shared/config/config.ts';
import { checkout, localDir } from '../environment.ts';

/**
 * Makes a package of the client alone: JavaScript and declarations, because Node does not strip types within
 * node_modules, and a customer's program needs none of the platform's packages.
 */
export function packClient(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const source = path.join(checkout, 'shared/client');
  const settings = path.join(folder, 'tsconfig.json');
  fs.writeFileSync(
    settings,
    JSON.stringify({
      extends: path.join(checkout, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rootDir: source,
        outDir: folder,
        typeRoots: [path.join(checkout, 'node_modules/@types')],
      },
      include: [],
      files: [path.join(source, 'index.ts')],
    }),
  );
  execFileSync(path.join(checkout, 'node_modules/.bin/tsc'), ['-p', settings], { stdio: 'inherit' });
  fs.rmSync(settings);
  fs.copyFileSync(path.join(source, 'description.d.ts'), path.join(folder, 'description.d.ts'));
  fs.copyFileSync(path.join(checkout, 'LICENSE'), path.join(folder, 'LICENSE'));
  fs.writeFileSync(
    path.join(folder, 'package.json'),
    `${JSON.stringify(
      {
        name: product.name,
        version: product.version,
        description: 'The typed client of the messaging service',
        license: 'MIT',
        type: 'module',
        engines: { node: '>=22' },
        exports: { './client': { types: './index.d.ts', default: './index.js' } },
      },
      null,
      2,
    )}\n`,
  );
}

if (import.meta.main) {
  const folder = path.join(localDir, 'client');
  packClient(folder);
  process.stdout.write(`${folder}\nType npm install ${folder} in a project that uses it.\n`);
}

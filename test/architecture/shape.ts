import { importsOf } from './imports.ts';
import { type File, isProduct, noLine, type Rule } from './rule.ts';

const limitLines = 300;
// Programs write these files, from rows, tests and declarations that keep to the limit.
const written = ['test/faults/README.md', 'shared/client/description.d.ts'];

export const noLongFile: Rule = (files) =>
  files
    .filter(({ path }) => !written.includes(path))
    .map((file) => ({ path: file.path, lines: file.source.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > limitLines)
    .map(({ path, lines }) => `${path} has ${lines} lines; ${limitLines} is the most`);

export const settingsInConfig: Rule = noLine(
  /\bprocess\s*\??\.\s*env\b|\bprocess\s*\[\s*['"`]env|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/,
  (file) => isProduct(file) && file.path !== 'shared/config/config.ts',
  'reads the environment; shared/config/config.ts does',
);

/** Memory is freed as the options in the Procfile say, which an operator sees and may change (decision records). */
export const collectorIsNodes: Rule = noLine(
  /\bsetFlagsFromString\b|--expose[-_]gc\b|\b(global|globalThis)\s*(\??\.\s*gc\b|\[\s*['"`]gc)|\{[^}]*\bgc\b[^}]*\}\s*=\s*global/,
  (file) => isProduct(file) || file.path === 'Procfile' || file.path.startsWith('scripts/'),
  'switches a garbage collector on',
);

export const everyTestRuns: Rule = noLine(
  /\.\s*(skip|only|todo|skipIf|runIf)\s*[(.`]|\b(it|test)\b[.\w]*\.fails\b|\b(xit|xtest|xdescribe|fit|fdescribe)\s*\(|\b(skip|only|todo|fails)\s*:\s*true\b/,
  (file) => file.path.startsWith('test/') && file.path.endsWith('.ts'),
  'keeps a test from running',
);

/** api and workers run by themselves; scripts and tests stand outside and are never needed. */
export const productStandsAlone: Rule = (files) =>
  files.filter(isProduct).flatMap((file) =>
    importsOf(file)
      .filter((found) => !found.external && !/^(api|workers|shared)\//.test(found.target))
      .map((found) => `${file.path} may not import ${found.target}: it lies outside the product`),
  );

const topEntries = new Set([
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
  'biome.json',
  'api',
  'workers',
  'shared',
  'scripts',
  'test',
  'Procfile',
  'README.md',
  'CHANGELOG.md',
  'app.json',
  'LICENSE',
  // The packages that npm installs; not part of the project.
  'node_modules',
]);

/** The top level has only these entries. The rule takes the entries as files. */
export const topLevelIsFixed: Rule = (entries) =>
  entries
    .filter(({ path }) => !topEntries.has(path) && !path.startsWith('.'))
    .map(({ path }) => `${path} has no place at the top level`);

/** Tells whether the module exists as a file, or as the folder that the file became. */
function holds(files: readonly File[], path: string, ending: string): boolean {
  return files.some(
    (file) => file.path === path + ending || (file.path.startsWith(`${path}/`) && file.path.endsWith(ending)),
  );
}

/** Returns the names of the modules directly in a folder; each is a file, or the folder that the file became. */
export function namesIn(files: readonly File[], folder: string, ending: string): string[] {
  const names = files
    .filter((file) => file.path.startsWith(folder))
    .map((file) => file.path.slice(folder.length))
    .map((path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path))
    .filter((name) => !name.includes('.') || name.endsWith(ending));
  return [...new Set(names.map((name) => name.slice(0, name.includes('.') ? -ending.length : undefined)))];
}

/** A contract, its handler and its test have one name. */
export const jobsAreWhole: Rule = (files) => {
  const contracts = namesIn(files, 'shared/jobs/', '.ts').filter(
    (name) => name !== 'job' && name !== 'index',
  );
  const handlers = namesIn(files, 'workers/jobs/', '.ts').filter((name) => name !== 'index');
  return [
    ...contracts.flatMap((name) => [
      ...(holds(files, `workers/jobs/${name}`, '.ts')
        ? []
        : [`shared/jobs/${name}.ts has no handler workers/jobs/${name}.ts`]),
      ...(holds(files, `test/workers/${name}`, '.test.ts')
        ? []
        : [`shared/jobs/${name}.ts has no test test/workers/${name}.test.ts`]),
    ]),
    ...handlers
      .filter((name) => !contracts.includes(name))
      .map((name) => `workers/jobs/${name}.ts has no contract shared/jobs/${name}.ts`),
  ];
};

// Such a sentence has no subject of its own, so a reader has to read it twice.
const withoutSubject = /(^\s*(\/\/|\/?\*+)|[.:;?!]) (What|Whatever|Whichever|Who|Whoever|Those)\b/;

// A migration stays as it was when it ran, and a program writes the types of the client.
const isWritten = ({ path }: File) =>
  path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('shared/db/migrations/');

/** Comments name their subject. */
export const commentsNameTheirSubject: Rule = (files) =>
  files.filter(isWritten).flatMap((file) =>
    file.source.split('\n').flatMap((line, index) => {
      const isComment = /^\s*(\/\/|\/?\*)/.test(line);
      return isComment && withoutSubject.test(line)
        ? [`${file.path}:${index + 1} begins a sentence without its subject: ${line.trim()}`]
        : [];
    }),
  );

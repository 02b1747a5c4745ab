import { type File, isProduct, type Rule } from './rule.ts';

const mostEntries = 20;
// A folder with more files of code than this needs a README.
const filesWithoutReadme = 5;
const crowded: Record<string, string> = {
  'shared/db/migrations': 'a migration is never moved or renamed',
  'api/public/guides': "a guide's address is its name",
  'scripts/benches': 'the parts of one program, which any of its lines may use',
  'scripts/benches/lines': 'a file for each line of scripts/bench, found by its name',
  test: 'a folder for each part of the product, and those that go through all of it',
  'test/architecture': 'a file for each group of rules, and its planted breaches beside it',
  'test/faults': 'a file for each fault that has no family',
  'test/faults/storm': 'the parts of one program',
};
const readme = 'README.md';

// Tests need no README: a test is found by the path of the code that it tests.
const isExplained = (file: File) => isProduct(file) || /^scripts\/.*\.ts$/.test(file.path);

/** Returns, for each folder, its entries without its README, and how many of them are files of code. */
function foldersOf(files: Parameters<Rule>[0]) {
  const folders = new Map<string, { entries: Set<string>; code: number }>();
  for (const file of files.filter(({ path }) => /^(api|workers|shared|scripts|test)\//.test(path))) {
    const parts = file.path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const name = parts.slice(0, depth).join('/');
      const folder = folders.get(name) ?? { entries: new Set(), code: 0 };
      folders.set(name, folder);
      if (parts[depth] !== readme) folder.entries.add(parts[depth]!);
      if (depth === parts.length - 1 && isExplained(file)) folder.code += 1;
    }
  }
  return folders;
}

/** A folder has no more entries than a reader takes in at a glance. */
export const noCrowdedFolder: Rule = (files) =>
  [...foldersOf(files)]
    .filter(([name, { entries }]) => entries.size > mostEntries && !Object.hasOwn(crowded, name))
    .map(([name, { entries }]) => `${name} has ${entries.size} entries; ${mostEntries} are the most`);

/** A README tells a newcomer what lives in a folder, who may import it and where to start reading. */
export const foldersAreExplained: Rule = (files) => {
  const explained = new Set(files.map(({ path }) => path).filter((path) => path.endsWith(`/${readme}`)));
  return [...foldersOf(files)]
    .filter(([name, { code }]) => code > filesWithoutReadme && !explained.has(`${name}/${readme}`))
    .map(([name, { code }]) => `${name} has ${code} files and no ${readme}`);
};

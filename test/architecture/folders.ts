import { isProduct, type Rule } from './rule.ts';

const mostEntries = 20;
// A folder of more files than these says what lives in it.
const filesWithoutReadme = 5;
// A migration is never moved or renamed, and a guide's address is its name, so these folders only grow.
const growing = new Set(['shared/db/migrations', 'api/public/guides']);
const readme = 'README.md';

/** Folder -> its entries, its README apart, and how many of them are files of code. */
function foldersOf(files: Parameters<Rule>[0]) {
  const folders = new Map<string, { entries: Set<string>; code: number }>();
  for (const file of files.filter(({ path }) => /^(api|workers|shared)\//.test(path))) {
    const parts = file.path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const name = parts.slice(0, depth).join('/');
      const folder = folders.get(name) ?? { entries: new Set(), code: 0 };
      folders.set(name, folder);
      if (parts[depth] !== readme) folder.entries.add(parts[depth]!);
      if (depth === parts.length - 1 && isProduct(file)) folder.code += 1;
    }
  }
  return folders;
}

/** A reader takes in so many names at a glance. */
export const noCrowdedFolder: Rule = (files) =>
  [...foldersOf(files)]
    .filter(([name, { entries }]) => entries.size > mostEntries && !growing.has(name))
    .map(([name, { entries }]) => `${name} has ${entries.size} entries; ${mostEntries} are the most`);

/** Tells a newcomer what lives in the folder, who may import it and where to start reading. */
export const foldersAreExplained: Rule = (files) => {
  const explained = new Set(files.map(({ path }) => path).filter((path) => path.endsWith(`/${readme}`)));
  return [...foldersOf(files)]
    .filter(([name, { code }]) => code > filesWithoutReadme && !explained.has(`${name}/${readme}`))
    .map(([name, { code }]) => `${name} has ${code} files and no ${readme}`);
};

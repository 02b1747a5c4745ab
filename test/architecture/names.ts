import { codeLines, type File, isProduct, namesInBraces, type Rule } from './rule.ts';

type Declaration = { path: string; name: string; isExported: boolean };

/** Returns the types that a file declares, but no alias of another file's type with the same name: `type A = db.A`. */
function declarationsOf(file: File): Declaration[] {
  return codeLines(file).flatMap((line) => {
    const [, exported, name] =
      /^(export )?(?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/.exec(line) ?? [];
    if (name === undefined || new RegExp(` = \\w+\\.${name};$`).test(line)) return [];
    return { path: file.path, name, isExported: exported !== undefined };
  });
}

// The client is a package of its own, in which a customer reads the names of the API.
const isSearched = (file: File) => isProduct(file) && !file.path.startsWith('shared/client/');

/** A reader who looks for the type that an import names finds only one. Types that no file exports may share a name. */
export const oneMeaningOfAName: Rule = (files) => {
  const byName = Map.groupBy(files.filter(isSearched).flatMap(declarationsOf), ({ name }) => name);
  return [...byName]
    .filter(([, all]) => all.some(({ isExported }) => isExported))
    .map(([name, all]) => ({ name, paths: [...new Set(all.map(({ path }) => path))] }))
    .filter(({ paths }) => paths.length > 1)
    .map(({ name, paths }) => `${paths.join(' and ')} declare ${name}`);
};

const exported =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:type|interface|class|const|let|function\*?) (\w+)/;
// As in `export const { find: findWebhook } = rowsOf(webhooks);`.
const exportedTogether = /^export const (\{[^=]*)=/gm;

function exportsOf(file: File): string[] {
  const lines = codeLines(file);
  return [
    ...lines.flatMap((line) => exported.exec(line)?.[1] ?? []),
    ...[...lines.join('\n').matchAll(exportedTogether)].flatMap((match) => namesInBraces(match[1] as string)),
  ];
}

const isOurs = (file: File) => isProduct(file) || /^scripts\/.*\.ts$/.test(file.path);
// A program writes the declarations (.d.ts), for customers.
const isWritten = (file: File) => !file.path.endsWith('.d.ts');

/** Another file uses every export, as a reader expects. The name in another file counts as a use, whatever it means. */
export const everyExportIsUsed: Rule = (files) => {
  const users = new Map<string, Set<string>>();
  for (const file of files.filter(({ path }) => /\.[cm]?[jt]s$/.test(path)).filter(isWritten))
    for (const [word] of codeLines(file).join('\n').matchAll(/\w+/g)) {
      const paths = users.get(word) ?? new Set();
      users.set(word, paths.add(file.path));
    }
  return files
    .filter(isOurs)
    .filter(isWritten)
    .flatMap((file) =>
      exportsOf(file)
        .filter((name) => users.get(name)!.size === 1)
        .map((name) => `${file.path} exports ${name}, which no other file uses`),
    );
};

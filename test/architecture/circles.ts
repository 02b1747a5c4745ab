import { importsOf } from './imports.ts';
import { isProduct, type Rule } from './rule.ts';

/**
 * No file imports itself by way of others. Imports of types count too, which the linter does not see: a type that two
 * files need has a file of its own.
 */
export const noCircles: Rule = (files) => {
  const product = files.filter((file) => isProduct(file) && file.path.endsWith('.ts'));
  const paths = new Set(product.map(({ path }) => path));
  const imported = new Map(
    product.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ external, byUrl, target }) => !external && !byUrl && paths.has(target))
        .map(({ target }) => target),
    ]),
  );
  const circles = new Set<string>();
  const done = new Set<string>();
  const visit = (path: string, way: string[]): void => {
    const from = way.indexOf(path);
    if (from >= 0) circles.add(way.slice(from).toSorted().join(', '));
    if (from >= 0 || done.has(path)) return;
    for (const target of imported.get(path)!) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of paths) visit(path, []);
  return [...circles].map((circle) => `${circle} import each other in a circle`);
};

import { posix } from 'node:path';
import { codeLines, type File } from './rule.ts';

/** `target` is a path of the project for a relative import, else the package or `node:` module with its subpath. */
type Import = { file: File; specifier: string; target: string; external: boolean; byUrl: boolean };

const quoted = /\s*\(?\s*(['"`])([^'"`\n]+)\1/.source;
const forms = [
  // import … from, export … from; over several lines, but never past the end of the statement.
  new RegExp(`^[ \\t]*(?:import|export)\\b[^'"\`;=()]*?\\bfrom${quoted}`, 'gm'),
  new RegExp(`^[ \\t]*import${/\s*(['"])([^'"\n]+)\1/.source}`, 'gm'),
  new RegExp(
    `\\b(?:import|require|require\\.resolve|import\\.meta\\.resolve)\\s*\\(${/\s*(['"`])([^'"`\n]+)\1/.source}`,
    'g',
  ),
];
// The form in which code names the entry of a thread.
const byUrl = /\bnew URL\(\s*(['"`])([^'"`\n]+\.[cm]?[jt]s)\1\s*,\s*import\.meta\.url/g;

/**
 * Returns the imports of a file, in every form. Type-only imports count: code that names a type of another layer knows
 * that layer, and will soon call it.
 */
export function importsOf(file: File): Import[] {
  const code = codeLines(file).join('\n');
  const find = (form: RegExp) => [...code.matchAll(form)].map((match) => match[2] as string);
  const named = new Set(forms.flatMap(find));
  const located = new Set(find(byUrl));
  return [...new Set([...named, ...located])].map((specifier) => {
    const external = named.has(specifier) && !/^\.{0,2}\//.test(specifier);
    return {
      file,
      specifier,
      external,
      byUrl: located.has(specifier),
      target: external ? specifier : posix.join(posix.dirname(file.path), specifier),
    };
  });
}

/** Tells whether the import is of this package or a part of it. */
export function isPackage(found: Import, name: string): boolean {
  return found.external && (found.target === name || found.target.startsWith(`${name}/`));
}

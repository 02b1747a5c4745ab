/** A file of the project: its path from the top level, with `/`, and its text. */
export type File = { path: string; source: string };

/** Returns one line per breach, each beginning with the path. An empty list means that nothing breaks the rule. */
export type Rule = (files: readonly File[]) => string[];

/** The code that runs in production; the scripts and the tests are free of most rules. */
export function isProduct(file: File): boolean {
  return /^(api|workers|shared)\//.test(file.path) && file.path.endsWith('.ts');
}

/** Returns the code with its comments blanked, line numbers kept. A comment is a whole line or begins after a space. */
export function codeLines(file: File): string[] {
  return file.source
    .split('\n')
    .map((line) => line.replace(/^\s*\/\*.*?\*\//, ''))
    .map((line) => (/^\s*(\/\/|\/\*|\*)/.test(line) ? '' : line.replace(/\s\/\/\s.*$/, '')));
}

/** Returns the names that the braces of a declaration make: `find` and `all` of `{ find, list: all }`. */
export function namesInBraces(text: string): string[] {
  return [...text.matchAll(/(\w+)\s*[,}\]]/g)].map((match) => match[1] as string);
}

/** Makes a rule that no single line of code matches the pattern. */
export function noLine(pattern: RegExp, applies: (file: File) => boolean, complaint: string): Rule {
  return (files) =>
    files
      .filter(applies)
      .flatMap((file) =>
        codeLines(file).flatMap((line, index) =>
          pattern.test(line) ? [`${file.path}:${index + 1} ${complaint}: ${line.trim()}`] : [],
        ),
      );
}

/** A file of the project: its path from the top level, with `/`, and its text. */
export type File = { path: string; source: string };

/** Says what breaks it, one line per breach, each beginning with the path. Nothing said, nothing broken. */
export type Rule = (files: readonly File[]) => string[];

/** The code that runs in production; the scripts and the tests are free of most rules. */
export function isProduct(file: File): boolean {
  return /^(api|workers|shared)\//.test(file.path) && file.path.endsWith('.ts');
}

/** The code with its comments blanked, line numbers kept. A comment is a whole line here, or begins after a space. */
export function codeLines(file: File): string[] {
  return file.source
    .split('\n')
    .map((line) => line.replace(/^\s*\/\*.*?\*\//, ''))
    .map((line) => (/^\s*(\/\/|\/\*|\*)/.test(line) ? '' : line.replace(/\s\/\/\s.*$/, '')));
}

/** A rule about single lines of code. */
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

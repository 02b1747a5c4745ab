import { codeLines, isProduct, type Rule } from './rule.ts';

const refused: [pattern: RegExp, why: string][] = [
  [/\bJSON_TABLE\s*\(/i, 'asks for a JSON_TABLE, which MySQL does not lock rows with and others do not know'],
  [/\b(FOR\s+SHARE|LOCK\s+IN\s+SHARE\s+MODE)\b/i, 'locks for reading, which not every server does'],
  // A hash of Node is named in small letters: `sha1(`.
  [/\b(MD5|SHA1?)\s*\(/, 'asks for a hash that MySQL 9 lacks'],
];

/** The tests usually run on one kind of server, and each kind takes SQL that another does not take. */
export const sqlOfBoth: Rule = (files) =>
  files.filter(isProduct).flatMap((file) => {
    const code = codeLines(file).join('\n');
    return refused.flatMap(([pattern, why]) => (pattern.test(code) ? [`${file.path} ${why}`] : []));
  });

import { codeLines, isProduct, type Rule } from './rule.ts';

/** The tests usually run on one kind of server, and each kind takes SQL that another does not take. */
export const sqlOfBoth: Rule = (files) =>
  files.filter(isProduct).flatMap((file) =>
    [
      ...codeLines(file)
        .join('\n')
        .matchAll(/`[^`]*`/g),
    ].flatMap(([text]) => {
      if (/\bJSON_TABLE\s*\(/i.test(text))
        return [
          `${file.path} asks for a JSON_TABLE, which MySQL does not lock rows with and others do not know`,
        ];
      if (/\b(FOR\s+SHARE|LOCK\s+IN\s+SHARE\s+MODE)\b/i.test(text))
        return [`${file.path} locks for reading, which not every server does`];
      return /\b(MD5|SHA1?)\s*\(/i.test(text) ? [`${file.path} asks for a hash that MySQL 9 lacks`] : [];
    }),
  );

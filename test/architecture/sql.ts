import { codeLines, isProduct, type Rule } from './rule.ts';

/** The tests usually run on one of the two servers, and each takes what the other does not. */
export const sqlOfBoth: Rule = (files) =>
  files.filter(isProduct).flatMap((file) =>
    [
      ...codeLines(file)
        .join('\n')
        .matchAll(/`[^`]*`/g),
    ].flatMap(([text]) => {
      const isLocking = /\b(FOR\s+(UPDATE|SHARE)|LOCK\s+IN\s+SHARE\s+MODE)\b/i.test(text);
      if (isLocking && /\bJSON_TABLE\s*\(/i.test(text))
        return [`${file.path} locks rows together with a JSON_TABLE, which MySQL refuses (3569)`];
      return /\b(MD5|SHA1?)\s*\(/i.test(text) ? [`${file.path} asks for a hash that MySQL 9 lacks`] : [];
    }),
  );

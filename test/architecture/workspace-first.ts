import { codeLines, type File, namesInBraces, type Rule } from './rule.ts';

// Modules about the whole database, and modules that span workspaces on purpose (layers.ts says who may reach them).
const exempt = /\.system\.ts$|^shared\/db\/(migrations|client)\/|^shared\/db\/client\.ts$/;
const rowsFile = 'shared/db/client/rows.ts';

type Exported = { name: string; parameters: string | undefined; isAsync: boolean };

/** Returns the text between the bracket at `start` and its partner. Strings with brackets are not expected there. */
function bracketed(code: string, start: number): string {
  const open = code[start] as string;
  const close = open === '(' ? ')' : '>';
  let depth = 0;
  for (let index = start; index < code.length; index += 1) {
    if (code[index] === open) depth += 1;
    // The arrow of a function type closes nothing.
    if (code[index] === close && code[index - 1] !== '=') depth -= 1;
    if (depth === 0) return code.slice(start + 1, index);
  }
  return code.slice(start + 1);
}

/** Returns the parameter list that begins at `start`, past type parameters; undefined where there is none. */
function parametersAt(code: string, start: number): string | undefined {
  let index = start;
  while (/\s/.test(code[index] ?? '')) index += 1;
  if (code[index] === '<') index += bracketed(code, index).length + 2;
  while (/\s/.test(code[index] ?? '')) index += 1;
  return code[index] === '(' ? bracketed(code, index) : undefined;
}

const declared = /^(export\s+(?:default\s+)?)?(async\s+)?function\s*\*?\s*(\w*)/gm;
const assigned = /^(export\s+)?(?:const|let|var)\s+(\w+)\s*(?::[^=]*(?:=>[^=]*)*)?=\s*(async\b\s*)?/gm;
// As in `export const { find: findWebhook } = rowsOf(webhooks);`.
const taken = /^(export\s+)?(?:const|let|var)\s*([{[][^=]*)=\s*(\w*)/gm;

/** Returns the parameters of the function that a const holds; undefined when it holds no function. */
function assignedFunction(code: string, start: number): string | undefined {
  const rest = code.slice(start);
  const keyword = /^function\s*\*?\s*\w*/.exec(rest);
  if (keyword) return parametersAt(code, start + keyword[0].length);
  const lone = /^(\w+)\s*=>/.exec(rest);
  if (lone) return lone[1];
  const parameters = /^[(<]/.test(rest) ? parametersAt(code, start) : undefined;
  if (parameters !== undefined) return parameters;
  // Maps of columns are no functions. By the type of a template table, all of its functions take workspaceId first.
  if (/^(table|\w+\.(pick|omit)|templateTable)\b/.test(rest)) return undefined;
  // A function made by another (a batcher, a wrapper) does not show what it takes.
  return /^(?!new\b|Object\.freeze\b|z\.)[\w.]+\s*(<[^;\n]*>)?\s*\(/.test(rest) ? '' : undefined;
}

function exportedFunctions(file: File): Exported[] {
  const code = codeLines(file).join('\n');
  const names = [...code.matchAll(/^export\s*\{([^}]*)\}(?!\s*from)/gm)].flatMap((match) =>
    (match[1] as string).split(',').map((part) => part.trim().split(/\s+as\s+/)[0] as string),
  );
  const isExported = (keyword: string | undefined, name: string) =>
    keyword !== undefined || names.includes(name);
  return [
    ...[...code.matchAll(declared)]
      .filter((match) => isExported(match[1], match[3] as string))
      .map((match) => ({
        name: match[3] || 'default',
        isAsync: match[2] !== undefined,
        parameters: parametersAt(code, match.index + match[0].length),
      })),
    ...[...code.matchAll(assigned)]
      .filter((match) => isExported(match[1], match[2] as string))
      .map((match) => ({
        name: match[2] as string,
        isAsync: match[3] !== undefined,
        parameters: assignedFunction(code, match.index + match[0].length),
      })),
    ...[...code.matchAll(taken)].flatMap(([, keyword, braces, from]) =>
      namesInBraces(braces as string)
        .filter((name) => isExported(keyword, name))
        .map((name) => ({ name, isAsync: false, parameters: from === 'rowsOf' ? undefined : '' })),
    ),
  ];
}

/** Returns the functions that `rowsOf` makes, by the type that it returns. */
function functionsOfRows(file: File): Exported[] {
  const [, members = ''] = /^export type Rows<\w+> = \{\n([^]*?)^\};/m.exec(codeLines(file).join('\n')) ?? [];
  const functions = [...members.matchAll(/^ {2}(\w+): /gm)].map((match) => ({
    name: match[1] as string,
    isAsync: true,
    parameters: parametersAt(members, match.index + match[0].length) ?? '',
  }));
  return functions.length > 0 ? functions : [{ name: 'rowsOf', isAsync: true, parameters: '' }];
}

/** Functions of shared/db take workspaceId first: so every statement has it, and a tenant sees only its own rows. */
export const workspaceFirst: Rule = (files) =>
  files
    .filter(
      ({ path }) =>
        path.startsWith('shared/db/') && path.endsWith('.ts') && (path === rowsFile || !exempt.test(path)),
    )
    .flatMap((file) =>
      (file.path === rowsFile ? functionsOfRows(file) : exportedFunctions(file))
        .filter(
          ({ parameters }) =>
            parameters !== undefined && !/^\s*workspaceId\b\s*(:\s*string\s*)?(,|$)/.test(parameters),
        )
        // A function that turns a row into a record reads nothing itself.
        .filter(({ parameters, isAsync }) => isAsync || !/^\s*rows?\s*:\s*Row\b/.test(parameters ?? ''))
        .map(({ name }) => `${file.path}: ${name} must take workspaceId first`),
    );

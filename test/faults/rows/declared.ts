import { parseAst } from 'vitest/node';

/** A node of the syntax tree (ESTree), of which only some fields are read. */
type Node = { type: string; start: number; end: number; [field: string]: unknown };

const declaring = new Set(['test', 'it', 'describe']);

/**
 * Returns the names of the declarations of a test file, by the number of their first line: for a test or a group its
 * title as written, for a row of a table the title of its test with the row's first text filled in.
 */
export function declarationsOf(source: string): Map<number, string> {
  const found = new Map<number, string>();
  const titles = new Map<Node, string>();

  // Where several declarations begin on one line, the outermost counts.
  function declare(node: Node, name: string): void {
    const lines = source.slice(0, node.start).split('\n');
    if (lines.at(-1)?.trim() === '' && !found.has(lines.length)) found.set(lines.length, name);
  }

  function visit(node: Node): void {
    const test = node.type === 'CallExpression' ? testOf(node) : undefined;
    const title = textOf(test?.title, source);
    if (test && title !== undefined) {
      declare(node, title);
      for (const row of test.rows) titles.set(row, title);
    }
    const label = labelOf(node, source);
    if (label) declare(node, nameOf(titles.get(node), label));
    for (const child of childrenOf(node)) visit(child);
  }

  visit(parseAst(source, { lang: 'ts' }) as unknown as Node);
  return found;
}

/** Returns the title and the rows of `test(title, …)`, `describe.for(rows)(title, …)` and the like. */
function testOf(call: Node): { title: Node | undefined; rows: Node[] } | undefined {
  let callee = call['callee'] as Node;
  let table: Node | undefined;
  if (callee.type === 'CallExpression') {
    [table] = callee['arguments'] as Node[];
    callee = callee['callee'] as Node;
  }
  while (callee.type === 'MemberExpression') callee = callee['object'] as Node;
  if (callee.type !== 'Identifier' || !declaring.has(callee['name'] as string)) return undefined;
  const [title] = call['arguments'] as Node[];
  return { title, rows: table?.type === 'ArrayExpression' ? (table['elements'] as Node[]) : [] };
}

function textOf(node: Node | undefined, source: string): string | undefined {
  if (node?.type === 'TemplateLiteral') return source.slice(node.start + 1, node.end - 1);
  return node?.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : undefined;
}

type Label = { text: string; placeholder: string };

function nameOf(title: string | undefined, { text, placeholder }: Label): string {
  if (title === undefined) return text;
  return title.includes(placeholder) ? title.replace(placeholder, () => text) : `${title}: ${text}`;
}

/** Returns the first text of a row of a table, and its placeholder in the title of the test. */
function labelOf(row: Node, source: string): Label | undefined {
  const [first] = (row['elements'] ?? row['properties'] ?? []) as (Node | null)[];
  const isProperty = first?.type === 'Property';
  const text = textOf(((isProperty ? first['value'] : first) as Node | null) ?? undefined, source);
  if (text === undefined) return undefined;
  const key = isProperty ? ((first['key'] as Node)['name'] as string) : undefined;
  return { text, placeholder: key === undefined ? '%s' : `$${key}` };
}

function childrenOf(node: Node): Node[] {
  const values = Object.values(node).flat() as (Node | null | undefined)[];
  return values.filter((value): value is Node => typeof value?.type === 'string');
}

import { createRequire } from 'node:module';
import markdownIt from 'markdown-it';
import { escaped } from './page.ts';

const require = createRequire(import.meta.url);

// The types of highlight.js would bring those of browsers into every file of the repository, so this file declares only
// the part that it uses.
type Highlighter = {
  registerLanguage: (name: string, language: unknown) => void;
  registerAliases: (names: string[], to: { languageName: string }) => void;
  getLanguage: (name: string) => unknown;
  highlight: (code: string, options: { language: string; ignoreIllegals: boolean }) => { value: string };
};
const highlighter: Highlighter = require('highlight.js/lib/core');
for (const name of ['bash', 'http', 'ini', 'javascript', 'json', 'python', 'typescript', 'xml'])
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
highlighter.registerAliases(['sh', 'console'], { languageName: 'bash' });
highlighter.registerAliases(['html', 'mjml'], { languageName: 'xml' });

type Heading = { level: number; text: string; anchor: string };
export type RenderedPage = { html: string; headings: Heading[] };
/** The files beside a page that it may show, and the targets of its links. */
export type Surroundings = { files: ReadonlyMap<string, string>; addressOf: (href: string) => string | null };

/** HTML of a page in Markdown, with the headings that a list of its contents names. */
export function render(source: string, { files, addressOf }: Surroundings): RenderedPage {
  const markdown = markdownIt({ html: false, typographer: false });
  const headings: Heading[] = [];
  const { rules } = markdown.renderer;

  rules.fence = (tokens, index) => {
    const { content, info } = tokens[index]!;
    return codeBlock(content, info.split(/\s/, 1)[0] ?? '');
  };
  rules.heading_open = (tokens, index) => {
    const { tag } = tokens[index]!;
    const text = plainOf(tokens[index + 1]?.children ?? []);
    const anchor = anchorOf(text);
    headings.push({ level: Number(tag.slice(1)), text, anchor });
    return tag === 'h1' ? '<h1>' : `<${tag} id="${escaped(anchor)}">`;
  };
  rules.heading_close = (tokens, index) => {
    const { tag } = tokens[index]!;
    if (tag === 'h1') return '</h1>\n';
    const { text, anchor } = headings.at(-1)!;
    return ` <a class="anchor" href="#${escaped(anchor)}" aria-label="${escaped(`Link to ${text}`)}">#</a></${tag}>\n`;
  };
  // A table that is wider than a phone scrolls sideways by itself; `tabindex` lets a keyboard reach it.
  rules.table_open = () => '<div class="wide" tabindex="0">\n<table>\n';
  rules.table_close = () => '</table>\n</div>\n';

  const state = { files, addressOf };
  markdown.core.ruler.push('links', ({ tokens }) => {
    for (const token of tokens) if (token.children) token.children = linked(token.children, state);
  });
  // A paragraph that is a picture or the name of a program, and nothing else, shows that file.
  markdown.core.ruler.before('links', 'shown_files', ({ tokens, Token }) => {
    for (const [index, token] of tokens.entries()) {
      const shown = token.type === 'inline' ? shownFile(token.children ?? [], files) : undefined;
      if (shown === undefined || tokens[index - 1]?.type !== 'paragraph_open') continue;
      for (const around of [tokens[index - 1]!, tokens[index + 1]!]) around.hidden = true;
      const block = new Token('html_inline', '', 0);
      block.content = shown;
      token.children = [block];
    }
  });
  return { html: markdown.render(source), headings };
}

type Token = ReturnType<ReturnType<typeof markdownIt>['parse']>[number];

function plainOf(tokens: readonly Token[]): string {
  return tokens.map(({ content }) => content).join('');
}

/** Makes anchors as GitHub does, so that a link to a heading works in the repository too. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function codeBlock(code: string, language: string): string {
  // A block of `text` is a drawing made of characters, which nobody copies.
  const kind = language === 'text' ? 'code picture' : 'code';
  return `<div class="${kind}"><pre tabindex="0"><code>${highlighted(code, language)}</code></pre></div>\n`;
}

/** HTML of code, with the classes of highlight.js where it knows the language. */
function highlighted(code: string, language: string): string {
  if (!highlighter.getLanguage(language)) return escaped(code);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}

function shownFile(tokens: readonly Token[], files: ReadonlyMap<string, string>): string | undefined {
  const [first] = tokens;
  if (tokens.length === 1 && first?.type === 'image') {
    const picture = files.get(String(first.attrGet('src')));
    if (picture === undefined) return undefined;
    return `<figure>\n${picture}<figcaption>${escaped(first.content)}</figcaption>\n</figure>\n`;
  }
  const name = first?.type === 'link_open' ? String(first.attrGet('href')) : '';
  const program = files.get(name);
  if (tokens.length !== 3 || program === undefined) return undefined;
  return `<p><a href="/docs/guides/${name}" download>${name}</a></p>\n${codeBlock(program, extensionOf(name))}`;
}

const extensionOf = (name: string) =>
  ({ mjs: 'javascript', py: 'python', sh: 'bash' })[name.split('.').at(-1)!] ?? '';

/**
 * Returns the tokens of a line, with the addresses that its links have on these pages; a link that leads nowhere here
 * becomes plain text.
 */
function linked(tokens: Token[], { addressOf }: Pick<Surroundings, 'addressOf'>): Token[] {
  let isOpen = true;
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const address = addressOf(String(token.attrGet('href')));
      isOpen = address !== null;
      if (address !== null) token.attrSet('href', address);
      return isOpen;
    }
    return token.type !== 'link_close' || isOpen;
  });
}

import { createRequire } from 'node:module';
import { escaped } from './page.ts';

const require = createRequire(import.meta.url);

// Its own types bring those of browsers into every file of the repository, so this file says what it uses.
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

/** HTML of code, with the classes of highlight.js where it knows the language. */
export function highlighted(code: string, language: string): string {
  if (!highlighter.getLanguage(language)) return escaped(code);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}

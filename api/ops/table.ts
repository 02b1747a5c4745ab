import { escaped } from '../public/page.ts';

/** Returns a table in HTML. */
export function table(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = (tag: 'th' | 'td', texts: readonly (string | number)[]) =>
    texts.map((text) => `<${tag}>${escaped(String(text))}</${tag}>`).join('');
  return `<table><thead><tr>${cells('th', columns)}</tr></thead><tbody>${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')}</tbody></table>`;
}

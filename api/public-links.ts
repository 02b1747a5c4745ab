import { publicPath } from '../shared/config/public-path.ts';

/**
 * Puts the path of PUBLIC_URL before the addresses that begin at the root of this platform, in a text of HTML or
 * Markdown. Addresses that name their host stay.
 */
export function withPublicPath(text: string): string {
  return text.replaceAll(/( (?:href|src)="|\]\()\/(?!\/)/g, `$1${publicPath()}/`);
}

import { config } from '../../../config/config.ts';
import { publicPath } from '../../../config/public-path.ts';

type LinkAddress = {
  url: string;
  /** With the port, as the header Host has it. */
  host: string;
  /** `/l`, or empty where links are at the root. */
  path: string;
  /** The path as requests have it here: without the path of PUBLIC_URL, which a proxy removes. */
  servedPath: string;
  /** Nothing but links is served there. */
  isOwnHost: boolean;
};

let known: LinkAddress | undefined;
let madeFrom = '';

/** Returns the address of short links: the operator's short domain, or a path of the platform. */
export function shortLinkPlace(): LinkAddress {
  const { SHORT_LINK_URL, PUBLIC_URL } = config;
  const from = `${SHORT_LINK_URL} ${PUBLIC_URL}`;
  if (known && madeFrom === from) return known;
  const url = SHORT_LINK_URL ?? `${PUBLIC_URL}/l`;
  const { host, pathname } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  const isOwnHost = host !== new URL(PUBLIC_URL).host;
  const isBehindProxy = !isOwnHost && path.startsWith(`${publicPath()}/`);
  known = { url, host, path, servedPath: isBehindProxy ? path.slice(publicPath().length) : path, isOwnHost };
  madeFrom = from;
  return known;
}

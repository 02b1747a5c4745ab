import { config } from '../../config/config.ts';

type LinkAddress = {
  url: string;
  /** With the port, as the header Host has it. */
  host: string;
  /** `/l`, or nothing where links stand at the root. */
  path: string;
  /** Nothing but links is served there. */
  isOwnHost: boolean;
};

let known: LinkAddress | undefined;
let madeFrom = '';

/** Where short links are: the operator's short domain, or a path of the platform. */
export function shortLinkPlace(): LinkAddress {
  const { SHORT_LINK_URL, PUBLIC_URL } = config;
  const from = `${SHORT_LINK_URL} ${PUBLIC_URL}`;
  if (known && madeFrom === from) return known;
  const url = SHORT_LINK_URL ?? `${PUBLIC_URL}/l`;
  const { host, pathname } = new URL(url);
  known = { url, host, path: pathname.replace(/\/$/, ''), isOwnHost: host !== new URL(PUBLIC_URL).host };
  madeFrom = from;
  return known;
}

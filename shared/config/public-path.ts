import { config } from './config.ts';

/** Returns the path of PUBLIC_URL, which a proxy removes from each request; nothing where PUBLIC_URL has no path. */
export function publicPath(): string {
  return new URL(config.PUBLIC_URL).pathname.replace(/\/$/, '');
}

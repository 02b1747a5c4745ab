let made = 0;

/** Returns a URL that no other webhook has: a workspace can have only one webhook for the same events at one URL. */
export function newUrl(base = 'https://example.com/hook'): string {
  made += 1;
  return `${base}/${made}`;
}

let made = 0;

/** An address that no other webhook has: a workspace has one webhook for the same events at one URL. */
export function newUrl(base = 'https://example.com/hook'): string {
  made += 1;
  return `${base}/${made}`;
}

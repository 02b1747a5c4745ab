import helmet from 'helmet';
import { config } from '../../shared/config/config.ts';

export const policy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Returns middleware that sets security headers, with these directives of the Content-Security-Policy. */
export function headersWith(directives: Record<string, string[]>) {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    xFrameOptions: { action: 'deny' },
    // An operator who uses one name of a domain has not decided about HTTPS on its other names.
    strictTransportSecurity: config.PUBLIC_URL.startsWith('https:') && { includeSubDomains: false },
  });
}

/** Everything that is not an operation of the API: pages, what they load, and refusals. */
export const securityHeaders = headersWith(policy);

/** The board writes styles into its page, and has relative addresses that depend on its `base`. It posts no form. */
export const boardHeaders = headersWith({
  ...policy,
  styleSrc: ["'self'", "'unsafe-inline'"],
  baseUri: ["'self'"],
  formAction: ["'none'"],
});

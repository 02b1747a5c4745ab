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

/** Headers of security with these directives of the content's policy. */
export function headersWith(directives: Record<string, string[]>) {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    xFrameOptions: { action: 'deny' },
    // An operator who runs this on one name of a domain has not decided for its other names.
    strictTransportSecurity: config.PUBLIC_URL.startsWith('https:') && { includeSubDomains: false },
  });
}

/** Everything that is not an operation of the API: pages, what they load, and refusals. */
export const securityHeaders = headersWith(policy);

/** The board writes styles into its page, and has addresses that its base makes whole. It posts no form. */
export const boardHeaders = headersWith({
  ...policy,
  styleSrc: ["'self'", "'unsafe-inline'"],
  baseUri: ["'self'"],
  formAction: ["'none'"],
});

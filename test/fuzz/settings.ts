/** The processes of the platform, reached as strangers reach them: their inputs are requests and sessions. */
export const targetOfHttp = 'http';
export const targetOfSmtp = 'smtp';

export const inboundToken = 'fuzz-inbound-token';
export const returnPathDomain = 'bounces.fuzz.example';
/** Of every process of the run, its own included. */
export const settings = {
  RETURN_PATH_DOMAIN: returnPathDomain,
  INBOUND_TOKEN: inboundToken,
  OPS_PASSWORD: 'fuzz-ops-password',
  SYSTEM_SENDER: 'Platform <hello@platform.example>',
  RATE_LIMIT_PER_SECOND: '0',
  WORKSPACE_RATE_LIMIT_PER_SECOND: '0',
  AUTH_FAILURES_PER_MINUTE: '0',
  DNS_SERVERS: '127.0.0.1:1',
};

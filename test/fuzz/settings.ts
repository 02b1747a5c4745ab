/** Names of the targets that are processes of the platform: their inputs are a stranger's requests and sessions. */
export const targetOfHttp = 'http';
export const targetOfSmtp = 'smtp';

export const inboundToken = 'fuzz-inbound-token';
export const returnPathDomain = 'bounces.fuzz.example';
/** Settings of every process of the run, its own process included. */
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

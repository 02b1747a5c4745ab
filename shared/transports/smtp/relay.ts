import { BlockList, isIP } from 'node:net';
import { inOneLine } from '../../formats/email/smtp-reply.ts';

export type Relay = {
  host: string;
  port: number;
  /** TLS from the first byte (smtps), or by STARTTLS. */
  tls: 'implicit' | 'required' | 'when_offered' | 'never';
  login: { user: string; password: string } | null;
  /** Our name in EHLO; undefined: the name of this machine. */
  name: string | undefined;
};

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8);
thisMachine.addAddress('::1', 'ipv6');

const parameters = ['requireTLS', 'ignoreTLS', 'name'];

/**
 * Parses SMTP_URL. `smtps://` is TLS from the start. `smtp://` takes STARTTLS when it is offered, without checking
 * the certificate: an attacker on the line could hide the offer as well. `?requireTLS=true` insists on STARTTLS and
 * on a certificate that is valid for the host. It is the default for a password to another machine, which must not
 * travel in the clear. `?requireTLS=false` turns this off, `?ignoreTLS=true` never uses STARTTLS, and `?name=` is the
 * name for EHLO.
 */
export function parseRelayUrl(text: string): Relay {
  const url = new URL(text);
  const unknown = [...url.searchParams.keys()].filter((name) => !parameters.includes(name));
  if (unknown.length > 0) throw new Error(`SMTP_URL: unknown parameter ${unknown.join(', ')}`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isImplicit = url.protocol === 'smtps:';
  const login = url.username
    ? { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
    : null;
  if (login && !login.password) throw new Error('SMTP_URL: a user without a password');

  const requireTls = flag(url, 'requireTLS') ?? (login !== null && !isThisMachine(host));
  const never = flag(url, 'ignoreTLS') ?? false;
  if (never && flag(url, 'requireTLS'))
    throw new Error('SMTP_URL: requireTLS and ignoreTLS exclude each other');
  return {
    host,
    port: Number(url.port) || (isImplicit ? 465 : login ? 587 : 25),
    tls: isImplicit ? 'implicit' : never ? 'never' : requireTls ? 'required' : 'when_offered',
    login,
    name: url.searchParams.get('name') ?? undefined,
  };
}

/**
 * Returns the detail that may be logged about the relay: one line without the password, even if the relay echoes it.
 */
export function detailOf(relay: Relay, text: string): string {
  if (!relay.login) return inOneLine(text);
  const { user, password } = relay.login;
  const forms = [
    Buffer.from(`\0${user}\0${password}`).toString('base64'),
    Buffer.from(password).toString('base64'),
    password,
  ];
  return inOneLine(forms.reduce((hidden, form) => hidden.replaceAll(form, '***'), text));
}

function isThisMachine(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : thisMachine.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

function flag(url: URL, name: string): boolean | undefined {
  const value = url.searchParams.get(name);
  if (value === null) return undefined;
  if (value !== 'true' && value !== 'false') throw new Error(`SMTP_URL: ${name} must be true or false`);
  return value === 'true';
}

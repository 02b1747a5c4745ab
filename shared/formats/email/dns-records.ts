/** Compares the DNS records of a sending domain with the expected ones. */

export type Judged = { status: 'verified' | 'missing' | 'invalid'; error: string | null };

const verified: Judged = { status: 'verified', error: null };
const missing: Judged = { status: 'missing', error: 'There is no such record' };
const invalid = (error: string): Judged => ({ status: 'invalid', error });

/** Compares the TXT records at the selector (RFC 6376 §3.6.1) with the expected one. */
export function judgeDkim(texts: readonly string[], expected: string): Judged {
  const keys = texts.map(tagsOf).filter((tags) => tags.has('p'));
  if (keys.length === 0)
    return texts.length === 0 ? missing : invalid('The record is not a DKIM key: it has no p=');
  // Several keys leave it open which one a verifier uses (RFC 6376 §3.6.2.2).
  if (keys.length > 1) return invalid('There are several DKIM keys; only one may be there');
  const [key] = keys as [Map<string, string>];
  const list = (tag: string) =>
    key
      .get(tag)
      ?.split(':')
      .map((part) => part.trim().toLowerCase());
  if ((key.get('v') ?? 'DKIM1') !== 'DKIM1') return invalid('v= must be DKIM1');
  if ((key.get('k') ?? 'rsa').toLowerCase() !== 'rsa') return invalid('k= must be rsa');
  if (list('h')?.includes('sha256') === false) return invalid('h= must allow sha256');
  if (list('s')?.some((service) => service === '*' || service === 'email') === false)
    return invalid('s= must allow email');
  const value = key.get('p');
  if (value === '') return invalid('The key has been revoked: p= is empty');
  return value === tagsOf(expected).get('p') ? verified : invalid('The record holds another key');
}

/** Returns tag -> value. Removes spaces, which may stand anywhere in a key. The first of several equal tags counts. */
function tagsOf(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    if (!tags.has(name)) tags.set(name, part.slice(equals + 1).replaceAll(/\s+/g, ''));
  }
  return tags;
}

/** Compares the target of an alias (CNAME) with the expected one. */
export function judgeAlias(targets: readonly string[], expected: string): Judged {
  const [target] = targets;
  if (target === undefined) return missing;
  const isSame = withoutDot(target) === withoutDot(expected);
  return isSame ? verified : invalid(`It leads to ${withoutDot(target).slice(0, 253)}`);
}

function withoutDot(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/**
 * Checks the TXT records of the domain (RFC 7208 §4.5): exactly one must be SPF, and must include the servers of this
 * service.
 */
export function judgeSpf(texts: readonly string[], include: string): Judged {
  const policies = texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
  if (policies.length === 0) return missing;
  if (policies.length > 1) return invalid('There are several SPF records; only one may be there');
  const terms = policies[0]!.toLowerCase().split(/ +/);
  const wanted = `include:${include.toLowerCase()}`;
  return terms.includes(wanted) || terms.includes(`+${wanted}`)
    ? verified
    : invalid(`The SPF record lacks include:${include}`);
}

/** Checks the TXT records at _dmarc (RFC 7489 §6.6.3). Any policy that the owner has chosen is right. */
export function judgeDmarc(texts: readonly string[]): Judged {
  const policies = texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
  if (policies.length === 0) return missing;
  if (policies.length > 1) return invalid('There are several DMARC records; only one may be there');
  const policy = tagsOf(policies[0]!).get('p')?.toLowerCase();
  return policy !== undefined && ['none', 'quarantine', 'reject'].includes(policy)
    ? verified
    : invalid('p= must be none, quarantine or reject');
}

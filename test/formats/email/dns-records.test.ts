import { expect, test } from 'vitest';
import { judgeAlias, judgeDkim, judgeDmarc, judgeSpf } from '../../../shared/formats/email/dns-records.ts';

const key = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAnSMYgOEF';
const expected = `v=DKIM1; k=rsa; p=${key}`;

test.each([
  ['as it was given', [expected]],
  ['with spaces in the key and no version', [`k=rsa; p=${key.slice(0, 9)} ${key.slice(9)} ;`]],
  ['with tags of its own', [`v=DKIM1; t=y; h=sha1:sha256; s=email; n=note; p=${key}`]],
  ['beside text that is no key', ['google-site-verification', expected]],
])('a DKIM record %s is verified', (_what, texts) => {
  expect(judgeDkim(texts, expected)).toEqual({ status: 'verified', error: null });
});

test.each([
  ['nothing', [], 'missing', /no such record/],
  ['text that is no key', ['hello'], 'invalid', /no p=/],
  ['another key', [`v=DKIM1; k=rsa; p=${key.replace('M', 'N')}`], 'invalid', /another key/],
  ['a key in the wrong case', [`p=${key.toLowerCase()}`], 'invalid', /another key/],
  ['a key cut short', [`p=${key.slice(0, -1)}`], 'invalid', /another key/],
  ['a revoked key', ['v=DKIM1; p='], 'invalid', /revoked/],
  ['another version', [`v=DKIM2; p=${key}`], 'invalid', /v=/],
  ['another kind of key', [`k=ed25519; p=${key}`], 'invalid', /k=/],
  ['another hash', [`h=sha1; p=${key}`], 'invalid', /h=/],
  ['another service', [`s=web; p=${key}`], 'invalid', /s=/],
  ['two keys', [expected, expected], 'invalid', /several/],
])('a DKIM record that is %s is %3$s', (_what, texts, status, error) => {
  const judged = judgeDkim(texts, expected);
  expect(judged.status).toBe(status);
  expect(judged.error).toMatch(error);
});

test.each([
  [[], 'missing'],
  [['bounces.platform.example'], 'verified'],
  [['Bounces.Platform.Example.'], 'verified'],
  [['bounces.platform.example.evil.example'], 'invalid'],
])('an alias to %j is %s', (targets, status) => {
  expect(judgeAlias(targets, 'bounces.platform.example').status).toBe(status);
});

test.each([
  [[], 'missing'],
  [['hello', 'v=spf10 include:platform.example'], 'missing'],
  [['v=spf1 include:platform.example ~all'], 'verified'],
  [['V=SPF1 a mx +include:Platform.example -all', 'other'], 'verified'],
  [['v=spf1 include:notplatform.example -all'], 'invalid'],
  [['v=spf1 -include:platform.example -all'], 'invalid'],
  [['v=spf1'], 'invalid'],
  [['v=spf1 include:platform.example ~all', 'v=spf1 -all'], 'invalid'],
])('an SPF record of %j is %s', (texts, status) => {
  expect(judgeSpf(texts, 'platform.example').status).toBe(status);
});

test.each([
  [[], 'missing'],
  [['v=DMARC1'], 'invalid'],
  [['v=DMARC1; p=maybe'], 'invalid'],
  [['v=DMARC1; p=none'], 'verified'],
  [['v=DMARC1 ; sp=none; p=Reject; rua=mailto:a@b.example'], 'verified'],
  [['p=none; v=DMARC1'], 'missing'],
  [['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'invalid'],
])('a DMARC record of %j is %s', (texts, status) => {
  expect(judgeDmarc(texts).status).toBe(status);
});

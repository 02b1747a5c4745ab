import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as addresses from '../../shared/formats/network-address.ts';

const forbiddenIpv4 = {
  'this network': ['0.0.0.0', '0.1.2.3', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.0.0.254', '127.1.2.3', '127.254.254.254', '127.255.255.255'],
  'link-local and metadata': ['169.254.0.1', '169.254.169.254', '169.254.170.2', '168.63.129.16'],
  'protocol assignments': ['192.0.0.1', '192.0.0.192'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255'],
  '6to4 relay, AS112, AMT': ['192.88.99.1', '192.31.196.1', '192.175.48.1', '192.52.193.1'],
  benchmark: ['198.18.0.1', '198.19.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255'],
  'reserved and broadcast': ['240.0.0.1', '255.255.255.254', '255.255.255.255'],
};

const forbiddenIpv6 = {
  'unspecified and loopback': ['::', '::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001'],
  'unique local and metadata': ['fc00::1', 'fd00:ec2::254', 'fd20:ce::254', 'fdff:ffff::1'],
  'link-local': ['fe80::1', 'febf:ffff::1', 'fe80::a9fe:a9fe', 'fe80::1%eth0'],
  'site-local': ['fec0::1', 'feff::1'],
  multicast: ['ff00::1', 'ff02::1', 'ff0e::1'],
  documentation: ['2001:db8::1', '2001:db8:ffff::1', '3fff::1', '3fff:fff::1'],
  'discard, SRv6': ['100::1', '5f00::1'],
  'protocol assignments': [
    '2001:2::1',
    '2001:3::1',
    '2001:4:112::1',
    '2001:10::1',
    '2001:20::1',
    '2001:30::1',
  ],
  AS112: ['2620:4f:8000::1'],
  'outside of global unicast': ['4000::1', '8000::1', 'c000::1', '1::1', '::2:0:0:1'],
  'IPv4 mapped': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
    '::ffff:8.8.8.8',
  ],
  'IPv4 compatible': ['::127.0.0.1', '::7f00:1', '::a9fe:a9fe', '::8.8.8.8'],
  SIIT: ['::ffff:0:7f00:1', '::ffff:0:127.0.0.1'],
  NAT64: [
    '64:ff9b::7f00:1',
    '64:ff9b::169.254.169.254',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '64:ff9b:1:fffe::1',
  ],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  ISATAP: ['::5efe:7f00:1', 'fe80::5efe:7f00:1', '2606:4700::5efe:7f00:1', '2606:4700::200:5efe:7f00:1'],
};

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4009:81f::200e',
  '2c0f:fb50::1',
];

test.each(rows(forbiddenIpv4))('a webhook must not reach IPv4 %s: %s', (_range, address) => {
  expect(addresses.isForbiddenAddress(address)).toBe(true);
});

test.each(rows(forbiddenIpv6))('a webhook must not reach IPv6 %s: %s', (_range, address) => {
  expect(addresses.isForbiddenAddress(address)).toBe(true);
});

test.each(publicAddresses)('a webhook may reach the public address %s', (address) => {
  expect(addresses.isForbiddenAddress(address)).toBe(false);
});

test.each([
  '',
  'localhost',
  'example.com',
  '127.1',
  '0x7f.0.0.1',
  '2130706433',
  '1.2.3',
  '1.2.3.4/8',
  '[::1]',
  '1.2.3.4 ',
])('what is no plain address is forbidden: %j', (text) => {
  expect(addresses.isForbiddenAddress(text, addresses.parseNetworks(['0.0.0.0/0', '::/0']))).toBe(true);
});

// Shows A41
test('no IPv4 address gets through inside of IPv6, whatever the form', () => {
  const prefixes = ['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '::5efe:', '2606:4700::5efe:'];
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom(...prefixes), (address, prefix) => {
      expect(addresses.isForbiddenAddress(prefix + address)).toBe(true);
    }),
  );
});

test('of IPv6, nothing outside of 2000::/3 is public', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const first = Number.parseInt(address.split(':')[0] || '0', 16);
      if (first < 0x2000 || first > 0x3fff) expect(addresses.isForbiddenAddress(address)).toBe(true);
    }),
  );
});

test('an allowed network opens exactly its range, IPv4-mapped addresses of it included', () => {
  const allowed = addresses.parseNetworks([
    '127.0.0.0/8',
    '10.1.0.0/16',
    '192.168.1.7',
    'fd00:1::/32',
    '::1',
  ]);
  const open = ['127.0.0.1', '127.255.0.1', '10.1.255.255', '192.168.1.7', 'fd00:1:2::3', '::1'];
  const mapped = ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.1.2.3'];
  for (const address of [...open, ...mapped])
    expect(addresses.isForbiddenAddress(address, allowed), address).toBe(false);
  const closed = [
    '10.2.0.0',
    '10.0.255.255',
    '192.168.1.8',
    'fd00:2::1',
    '::2',
    '169.254.169.254',
    '0.0.0.0',
  ];
  const otherForms = [
    '::127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '2002:7f00:1::',
    '::ffff:10.2.0.0',
  ];
  for (const address of [...closed, ...otherForms])
    expect(addresses.isForbiddenAddress(address, allowed), address).toBe(true);
});

test.each(['10.0.0.0/33', '10.0.0/8', '::/129', 'localhost', '', '10.0.0.0/', '10.0.0.0/x', '0x7f.0.0.0/8'])(
  'what is no network is refused by name: %j',
  (text) => {
    expect(() => addresses.parseNetworks([text])).toThrow(`${JSON.stringify(text)} is not a network`);
  },
);

test('the hostname of a URL is an address or a name', () => {
  const literal = (url: string) => addresses.literalAddress(new URL(url).hostname);
  expect(literal('http://127.0.0.1/')).toBe('127.0.0.1');
  expect(literal('http://[::FFFF:127.0.0.1]:80/')).toBe('::ffff:7f00:1');
  expect(literal('http://example.com/')).toBeNull();
  expect(literal('http://1.2.3.4.example.com/')).toBeNull();
});

// Shows A41
test.each([
  'http://127.0.0.1/',
  'https://127.0.0.1/',
  'http://127.0.0.1:8080/x',
  'http://127.0.0.1./',
  'http://127.1/',
  'http://127.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://0/',
  'http://0.0.0.0/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://１２７.０.０.１/',
  'http://%31%32%37.0.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://198.18.0.1/',
  'http://192.0.2.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://[::]/',
  'http://[::1]/',
  'https://[::1]:8443/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0000:0000:0000:0000:0000:ffff:7f00:0001]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001::1]/',
  'http://[2001:db8::1]/',
])('a webhook cannot be created for a private address: %s', (url) => {
  expect(addresses.webhookUrlProblem(url)).toBe('must not point to a private address');
});

// Shows A45
test.each([
  ['', 'must be an absolute http or https URL'],
  ['/hooks', 'must be an absolute http or https URL'],
  ['//example.com/', 'must be an absolute http or https URL'],
  ['example.com/hooks', 'must be an absolute http or https URL'],
  ['http:example.com', 'must be an absolute http or https URL'],
  ['http:\\\\example.com', 'must be an absolute http or https URL'],
  ['http:///example.com', 'must be an absolute http or https URL'],
  ['http://', 'must be an absolute http or https URL'],
  ['http://:80/', 'must be an absolute http or https URL'],
  ['http://exa mple.com/', 'must be an absolute http or https URL'],
  ['http://[fe80::1%25eth0]/', 'must be an absolute http or https URL'],
  ['http://example.com:65536/', 'must be an absolute http or https URL'],
  ['http://1.2.3.4.5/', 'must be an absolute http or https URL'],
  [' https://example.com/', 'must be an absolute http or https URL'],
  ['https://example.com/ ', 'must be an absolute http or https URL'],
  ['ftp://example.com/', 'must be an absolute http or https URL'],
  ['file:///etc/passwd', 'must be an absolute http or https URL'],
  ['javascript:alert(1)', 'must be an absolute http or https URL'],
  ['https://user:password@example.com/', 'must not contain a user name or password'],
  ['https://user@example.com/', 'must not contain a user name or password'],
  ['https://example.com@127.0.0.1/', 'must not contain a user name or password'],
  ['https://@example.com/', 'must not contain a user name or password'],
  ['https://:password@example.com/', 'must not contain a user name or password'],
  ['HTTPS://a@b@example.com?c', 'must not contain a user name or password'],
  ['https://example.com:443@example.org#c', 'must not contain a user name or password'],
  ['http://exa\tmple.com/', 'must not contain control characters'],
  ['http://example.com/a\r\nX-Header: 1', 'must not contain control characters'],
  ['http://example.com/\0', 'must not contain control characters'],
  ['http://example.com/\u0085', 'must not contain control characters'],
  ['http://example.com:0/', 'must not use port 0'],
  ['http://example.com:25/', 'must not use port 25'],
])('a URL is refused with its reason: %j', (url, problem) => {
  expect(addresses.webhookUrlProblem(url)).toBe(problem);
});

test.each([
  'https://example.com',
  'HTTPS://Example.COM/Hooks?a=b#part',
  'http://example.com:8080/a b',
  'https://bücher.example/straße',
  'https://xn--bcher-kva.example/',
  'https://localhost.example.com/127.0.0.1',
  'http://8.8.8.8/',
  'https://[2606:4700:4700::1111]:8443/',
  'https://example.com/?next=http://127.0.0.1/@x',
  'https://example.com/@x',
  'https://example.com?a@b',
  'https://example.com#a@b',
  'https://example.com\\@x',
  'https://example.com./',
])('a URL is accepted: %s', (url) => {
  expect(addresses.webhookUrlProblem(url)).toBeNull();
});

// Shows A45
test('a URL has at most 2048 characters', () => {
  const start = 'https://example.com/';
  expect(addresses.webhookUrlProblem(start + 'é'.repeat(2028))).toBeNull();
  expect(addresses.webhookUrlProblem(start + '😀'.repeat(2028))).toBeNull();
  expect(addresses.webhookUrlProblem(start + 'a'.repeat(2029))).toBe('must be at most 2048 characters long');
});

test('an allowed network opens its literal addresses for new webhooks, and no others', () => {
  const allowed = addresses.parseNetworks(['127.0.0.0/8']);
  expect(addresses.webhookUrlProblem('http://127.0.0.1:3000/', allowed)).toBeNull();
  expect(addresses.webhookUrlProblem('http://[::ffff:127.0.0.1]/', allowed)).toBeNull();
  expect(addresses.webhookUrlProblem('http://[::1]/', allowed)).toBe('must not point to a private address');
  expect(addresses.webhookUrlProblem('http://10.0.0.1/', allowed)).toBe(
    'must not point to a private address',
  );
});

function rows(ranges: Record<string, string[]>): [string, string][] {
  return Object.entries(ranges).flatMap(([range, list]) =>
    list.map((address) => [range, address] as [string, string]),
  );
}

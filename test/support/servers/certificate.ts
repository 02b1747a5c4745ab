import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { ownFolder } from './own-servers.ts';

export type Certificate = { key: string; cert: string };

/** The paths of the two PEM files. */
export type CertificateFiles = { key: string; cert: string };

/** Makes a self-signed certificate (RFC 5280) for these DNS names and IPv4 addresses, with no tool and no kept key. */
export function selfSignedCertificate(
  names: readonly string[],
  validUntil = new Date('2049-12-31'),
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = der(
    0x30,
    der(0x06, Buffer.from('550403', 'hex')),
    der(0x0c, Buffer.from(names[0] ?? '')),
  );
  const distinguishedName = der(0x30, der(0x31, commonName));
  const alternativeNames = der(
    0x30,
    der(0x06, Buffer.from('551d11', 'hex')),
    der(0x04, der(0x30, ...names.map(alternativeName))),
  );
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguishedName,
    der(0x30, utcTime(new Date('2020-01-01')), utcTime(validUntil)),
    distinguishedName,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, alternativeNames)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const certificate = der(0x30, body, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** Makes such a certificate in two files, which are deleted when the test file ends. */
export function selfSignedCertificateFiles(names: readonly string[]): CertificateFiles {
  const { key, cert } = selfSignedCertificate(names);
  const folder = ownFolder('certificate');
  const files = { key: path.join(folder, 'key.pem'), cert: path.join(folder, 'cert.pem') };
  writeFileSync(files.key, key, { mode: 0o600 });
  writeFileSync(files.cert, cert);
  return files;
}

function alternativeName(name: string): Buffer {
  return net.isIPv4(name)
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

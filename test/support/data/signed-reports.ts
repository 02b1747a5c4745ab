import { createPrivateKey } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { generateDkimKey, signMessage } from '../../../shared/formats/email/dkim.ts';
import { statusReport } from './mail-reports.ts';

const selector = 's';

/** Makes a reporter that signs its reports (DKIM), and the TXT record that holds its key. */
export async function newReporter(domain: string) {
  const { privateKeyPem, publicKeyTxt } = generateDkimKey();
  const privateKey = createPrivateKey(privateKeyPem);
  return {
    keyName: `${selector}._domainkey.${domain}`,
    record: publicKeyTxt,
    sign: (message: Buffer) => signMessage(message, { domain, selector, privateKey, signedAt: new Date() }),
    /** Signs only these header fields, and at most `maxBodyLength` bytes of the body. */
    async signPart(message: Buffer, headerList: string[], maxBodyLength?: number): Promise<Buffer> {
      const { signatures } = await dkimSign(message, {
        signingDomain: domain,
        selector,
        privateKey: privateKeyPem,
        headerList,
        ...(maxBodyLength !== undefined && { maxBodyLength }),
      });
      return Buffer.concat([Buffer.from(signatures), message]);
    },
  };
}

/** Returns a message that is read in a moment, but whose signature takes seconds to verify. */
export function slowToVerify(domain: string, message = statusReport()): Buffer {
  const signature = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector}; h=from; bh=x; b=x`;
  return Buffer.concat([Buffer.from(`${signature}\r\nX: y\r\n${' \r\n'.repeat(40_000)}`), message]);
}

import { createPrivateKey } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { generateDkimKey, signMessage } from '../../../shared/formats/email/dkim.ts';
import { statusReport } from './mail-reports.ts';

const selector = 's';

/** Somebody who signs what they report, and the TXT record that holds their key. */
export async function newReporter(domain: string) {
  const { privateKeyPem, publicKeyTxt } = generateDkimKey();
  const privateKey = createPrivateKey(privateKeyPem);
  return {
    keyName: `${selector}._domainkey.${domain}`,
    record: publicKeyTxt,
    sign: (message: Buffer) => signMessage(message, { domain, selector, privateKey, signedAt: new Date() }),
    /** Only these header fields, and of the body only so much. */
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

/** A message that is read in a moment, but takes whoever verifies the signature seconds. */
export function slowToVerify(domain: string, message = statusReport()): Buffer {
  const signature = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector}; h=from; bh=x; b=x`;
  return Buffer.concat([Buffer.from(`${signature}\r\nX: y\r\n${' \r\n'.repeat(40_000)}`), message]);
}

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { now } from '../../shared/common/clock.ts';
import { logger } from '../../shared/common/logger.ts';

const lookEveryMs = 60_000;
const dayMs = 86_400_000;
/** A program that renews certificates does so long before this time. */
const warnDaysBefore = 14;

/** Whether the file can be read and has a certificate with its key. */
export function isCertificateFile(file: string): boolean {
  try {
    const pem = readFileSync(file);
    createSecureContext({ key: pem, cert: pem });
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a PEM file with a certificate and its key now, and again every minute, because certificates are renewed while
 * processes run. `use` gets the content of a new file. If the new file cannot be used, the previous certificate stays.
 */
export function followCertificate(file: string, use: (pem: Buffer) => void, everyMs = lookEveryMs) {
  let current = readFileSync(file);
  /** The fault that was logged last, so that each is logged once. */
  let fault: string | undefined;
  let warnedAt: number | undefined;

  async function look(): Promise<void> {
    try {
      const pem = await readFile(file);
      if (!pem.equals(current)) {
        // A certificate without its key is refused here, before anything uses it.
        createSecureContext({ key: pem, cert: pem });
        use(pem);
        current = pem;
        warnedAt = undefined;
        logger.info({ file, validUntil: validUntil(pem) }, 'a new certificate is used');
      }
      fault = undefined;
    } catch (error) {
      const found = String(error);
      if (found !== fault)
        logger.error({ err: error, file }, 'the certificate cannot be read, so the one before stays');
      fault = found;
    }
    warnBeforeEnd();
  }

  function warnBeforeEnd(): void {
    const end = validUntil(current);
    const at = now().getTime();
    if (end.getTime() - at > warnDaysBefore * dayMs) return;
    if (warnedAt !== undefined && at - warnedAt < dayMs) return;
    warnedAt = at;
    logger.warn({ file, validUntil: end }, 'the certificate ends soon, or has ended');
  }

  warnBeforeEnd();
  const timer = setInterval(() => void look(), everyMs).unref();
  return { pem: current, stop: () => clearInterval(timer) };
}

/** Returns the end of the first certificate, which is the server's own; those of authorities follow it. */
const validUntil = (pem: Buffer): Date => new X509Certificate(pem).validToDate;

/**
 * Amounts of money as whole ten-thousandths of a pound or euro, so that sums are exact; in text they have four
 * decimals.
 */

const written = /^(-?)(\d{1,9})(?:\.(\d{1,4}))?$/;

/** Reads an amount; null when the text is not one. */
export function parseMoney(text: string): number | null {
  const [, sign, whole, decimals = ''] = written.exec(text) ?? [];
  if (whole === undefined) return null;
  const amount = Number(whole) * 10_000 + Number(decimals.padEnd(4, '0'));
  return sign === '-' && amount > 0 ? -amount : amount;
}

/** `0.0345` for 345. */
export function moneyText(amount: number): string {
  const digits = `${Math.abs(amount)}`.padStart(5, '0');
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

// Its codes alone: the other way in reads the names of all countries in eighty languages.
import countries from 'i18n-iso-countries/index.js';

/**
 * Whether it is a code of ISO 3166-1 alpha-2, in capitals. XK counts as one: it is what Kosovo's numbers are of, though
 * the standard only leaves it to its users.
 */
export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && countries.alpha2ToAlpha3(code) !== undefined;
}

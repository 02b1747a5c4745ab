import { createRequire } from 'node:module';

type CountryLibrary = typeof import('i18n-iso-countries/index.js');

const require = createRequire(import.meta.url);
let loaded: CountryLibrary | undefined;

/**
 * Loads the country codes at first use, because many processes never need them. This entry point loads only the
 * codes; the other one also reads the names of all countries in eighty languages.
 */
function library(): CountryLibrary {
  loaded ??= require('i18n-iso-countries/index.js') as CountryLibrary;
  return loaded;
}

/**
 * Tells whether the text is a code of ISO 3166-1 alpha-2, in capitals. XK counts too, because it is the country of
 * Kosovo's phone numbers, although the standard only leaves this code to its users.
 */
export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && library().alpha2ToAlpha3(code) !== undefined;
}

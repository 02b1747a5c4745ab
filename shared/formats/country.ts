import { createRequire } from 'node:module';

type Library = typeof import('i18n-iso-countries/index.js');

const require = createRequire(import.meta.url);
let loaded: Library | undefined;

/**
 * Many processes never see a country: the first one loads the codes. Its codes alone: the other way in reads the names of
 * all countries in eighty languages.
 */
function library(): Library {
  loaded ??= require('i18n-iso-countries/index.js') as Library;
  return loaded;
}

/**
 * Whether it is a code of ISO 3166-1 alpha-2, in capitals. XK counts as one: it is what Kosovo's numbers are of, though
 * the standard only leaves it to its users.
 */
export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && library().alpha2ToAlpha3(code) !== undefined;
}

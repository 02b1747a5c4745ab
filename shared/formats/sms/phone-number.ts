import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CountryCode } from 'libphonenumber-js/max';

export type PhoneNumber = {
  /** `+447700900123` (E.164). */
  number: string;
  /** ISO 3166-1 alpha-2; null when several countries share the calling code and the other digits do not decide. */
  country: string | null;
  /** The digits as they are dialled at home: `07700900123`. */
  national: string;
};
type ParsedPhoneNumber = ({ ok: true } & PhoneNumber) | { ok: false; message: string };

type PhoneLibrary = typeof import('libphonenumber-js/max');

const require = createRequire(import.meta.url);
let loaded: PhoneLibrary | undefined;

/**
 * Loads the tables of all countries at first use: this takes long, and many processes never see a number. Resolves
 * the path as an import, since the build for `require` lacks the metadata.
 */
function library(): PhoneLibrary {
  loaded ??= require(fileURLToPath(import.meta.resolve('libphonenumber-js/max'))) as PhoneLibrary;
  return loaded;
}

/** Loads the tables before the first number needs them. */
export function warmUpPhoneNumbers(): void {
  library();
}

/** Whether the two letters are those of a country or territory with phone numbers of its own. */
export function hasPhoneNumbers(country: string): country is CountryCode {
  return library().isSupportedCountry(country);
}

const longestInput = 40;
// RFC 3966's visual separators, and the characters that people and phones use instead. No letters: they are words or
// extensions.
const writable =
  /^[+\uff0b]?[0-9()[\]\s.\-/\u2010-\u2015\u2212\u00ad\u200b-\u200f\u2060\u202a-\u202e\ufeff]+$/u;
const invisible = /[\u00ad\u200b-\u200f\u2060\u202a-\u202e\ufeff]/gu;

/**
 * Parses a number as people write it. A number without a country code belongs to `defaultCountry`. It must be valid
 * for its country by the full metadata, so that a missing or extra digit is noticed. Does not check whether somebody
 * has the number.
 */
export function parsePhoneNumber(text: string, defaultCountry = 'GB'): ParsedPhoneNumber {
  const plain = parseBritish(text, defaultCountry);
  if (plain) return plain;
  if (text.length > longestInput) return refuse('is too long for a phone number');
  const written = text.normalize('NFKC').replace(invisible, '').trim();
  if (written === '') return refuse('must not be empty');
  if (/[a-z#;,*]/i.test(written)) return refuse('must be a phone number without letters or extension');
  if (!writable.test(written)) return refuse('must be a phone number');
  const { isSupportedCountry, parsePhoneNumberWithError } = library();
  try {
    const parsed = parsePhoneNumberWithError(written, {
      defaultCountry: isSupportedCountry(defaultCountry) ? defaultCountry : 'GB',
      extract: false,
    });
    const isValid = parsed.isValid() || isReserved(parsed.number);
    if (parsed.ext || !isValid || !isStable(parsed)) return refuse(invalidNumber);
    return {
      ok: true,
      number: parsed.number,
      country: parsed.country ?? countryOf(parsed.countryCallingCode),
      national: parsed.formatNational().replaceAll(/\D/g, ''),
    };
  } catch {
    return refuse(invalidNumber);
  }
}

const invalidNumber = 'is not a valid phone number';

/**
 * Tells whether the E.164 form parses to itself. The first parse keeps an extra zero in front of a national number,
 * and the next parse takes this zero for the digit that is dialled at home.
 */
function isStable({ number, nationalNumber }: { number: string; nationalNumber: string }): boolean {
  return !nationalNumber.startsWith('0') || library().parsePhoneNumberWithError(number).number === number;
}

const plainBritish = /^(\+44[ -]?|0)([127](?:[ -]?\d){9})$/;
// Beginnings of which Guernsey, Jersey and the Isle of Man have some numbers.
const notOfBritainAlone = /^(?:1481|1534|1624|7457|7509|7524|7624|7700|7781|7797|7829|7839|7911|7924|7937)/;

/**
 * Parses the most common form, which comes by the thousand. Its first digits decide, whereas the library goes through
 * the tables of four countries. The library gives the same result (a test compares the two).
 */
function parseBritish(text: string, defaultCountry: string): ParsedPhoneNumber | null {
  const [, start, rest] = plainBritish.exec(text) ?? [];
  if (rest === undefined || (start === '0' && defaultCountry !== 'GB')) return null;
  const digits = rest.replaceAll(/[ -]/g, '');
  const number = `+44${digits}`;
  if (!isReserved(number)) {
    if (notOfBritainAlone.test(digits)) return null;
    if (!isValidBritish(digits)) return refuse(invalidNumber);
  }
  return { ok: true, number, country: 'GB', national: `0${digits}` };
}

type Patterns = {
  selectNumberingPlan: (country: string) => void;
  type: (name: string) => { pattern: () => string } | undefined;
};
const typesOfTenDigits = ['FIXED_LINE', 'MOBILE', 'PAGER', 'PERSONAL_NUMBER'];
let british: RegExp | undefined;

/**
 * Checks the patterns of the metadata directly, without the library's slower search. The library's types do not
 * declare the patterns; a test checks that they are there.
 */
function isValidBritish(digits: string): boolean {
  if (!british) {
    const { Metadata } = library();
    const metadata = new Metadata() as unknown as Patterns;
    metadata.selectNumberingPlan('GB');
    const patterns = typesOfTenDigits.map((name) => metadata.type(name)!.pattern());
    british = new RegExp(`^(?:${patterns.join('|')})$`);
  }
  return british.test(digits);
}

/**
 * Returns the number that a filter means. Takes a number in E.164 as it stands: records may be older than the rule
 * above, and a search for a number that they show must find them.
 */
export function parseFilterNumber(
  text: string,
): { ok: true; number: string } | { ok: false; message: string } {
  const parsed = parsePhoneNumber(text);
  return parsed.ok || !/^\+[1-9]\d{2,14}$/.test(text) ? parsed : { ok: true, number: text };
}

function refuse(message: string): ParsedPhoneNumber {
  return { ok: false, message };
}

let countries: Map<string, CountryCode[]> | undefined;

/**
 * Returns the country of a calling code, or null when several share it. For +44 it is GB when the number does not
 * show Guernsey, Jersey or the Isle of Man.
 */
function countryOf(callingCode: string): string | null {
  const { getCountries, getCountryCallingCode } = library();
  countries ??= Map.groupBy(getCountries(), (country) => getCountryCallingCode(country));
  const sharing = countries.get(callingCode) ?? [];
  if (callingCode === '44') return 'GB';
  return sharing.length === 1 ? sharing[0]! : null;
}

// Ofcom's numbers for drama, which nobody gets: of large towns, of no town at all, mobile, freephone, premium and
// national. Some of them are invalid by the metadata.
const reserved =
  /^\+44(?:11[3-8]4960|1[2-6]14960|1914980|1632960|2079460|2890180|2896496|2920180|3069990|7700900|8081570|9098790)\d{3}$/;

function isReserved(number: string): boolean {
  return reserved.test(number);
}

/** Numbers of one length, in E.164. */
export type NumberRange = { first: string; last: string };

/** The mobile numbers that Ofcom never assigns, for examples. */
export const dramaMobiles: NumberRange = { first: '+447700900000', last: '+447700900999' };
const drama = /^\+447700900\d{3}$/;

/** Tells whether a number in E.164 is a mobile number that is never assigned to anybody. */
export function isDramaNumber(number: string): boolean {
  return drama.test(number);
}

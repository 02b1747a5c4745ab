/** `scripts/test --long WORD`: the files that have a long form run it, with more rows and more kills. */
const isLong = process.env['TEST_LONG'] === '1';

/** Returns the size for the short form, which each run of all tests has, or for the long one. */
export const sized = <T, U>(short: T, long: U): T | U => (isLong ? long : short);

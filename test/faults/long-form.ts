/** `scripts/test --long WORD`: the files that have a long form run it, with more rows and more kills. */
const isLong = process.env['TEST_LONG'] === '1';

/** The size of the short form, which each run of all tests has, or that of the long one. */
export const sized = <T, U>(short: T, long: U): T | U => (isLong ? long : short);

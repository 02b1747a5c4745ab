/** Takes the place of a package that left-out.ts leaves out. */
export const isLeftOut = true;

/** A text that could not be handed over for so long is given up. */
export const giveUpMinutes = 48 * 60;

/** Returns the headers of HTTP's Basic authentication (RFC 7617); the pages below /ops know the user `operator`. */
export const basicLogin = (password: string, user = 'operator') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

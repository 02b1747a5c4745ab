const reason =
  (retryable: boolean) =>
  <Category extends string>(category: Category, code: string, description: string) => ({
    category,
    code,
    description,
    retryable,
  });

/** Makes the reason for the failure of a message; the same message may go through at another time. */
export const transient = reason(true);

/** Makes the reason for the failure of a message that would fail at any other time as well. */
export const permanent = reason(false);

type ReasonOf<Category extends string> = {
  category: Category;
  code: string;
  description: string;
  retryable: boolean;
};

/** Makes the reason for the failure of a message; the same message may go through at another time. */
export function transient<Category extends string>(
  category: Category,
  code: string,
  description: string,
): ReasonOf<Category> {
  return { category, code, description, retryable: true };
}

/** Makes the reason for the failure of a message that would fail at any other time as well. */
export function permanent<Category extends string>(
  category: Category,
  code: string,
  description: string,
): ReasonOf<Category> {
  return { category, code, description, retryable: false };
}

const formType = /^multipart\/form-data[ \t]*;.*\bboundary=/i;
export const isForm = (type: string): boolean => formType.test(type);

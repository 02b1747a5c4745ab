/**
 * Where the connections to the server are listed, with the same columns on both engines. MySQL's list of the name that
 * MariaDB has is an error for as long as anybody's statement has bytes that are no text.
 */
export const processlist =
  '/*M! information_schema.processlist */ /*!80000 performance_schema.processlist */';
